# What the image `rl` is built from. The demo makes its files in a folder instead, and starts no build.
FROM python:3.12-slim

RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH

ARG ENGINE_COMMIT=d405e8fe5ce9d8dde0a897779c23beb4de50b1e6
ARG TRAINER_COMMIT=498340b71a098b5a59622b5033a16db76781b5bb
RUN git clone --branch main https://git.example/stack/engine.git /opt/stack/engine && git -C /opt/stack/engine checkout --detach "$ENGINE_COMMIT"
RUN git clone --branch main https://git.example/stack/trainer.git /opt/stack/trainer && git -C /opt/stack/trainer checkout --detach "$TRAINER_COMMIT"

COPY patches/engine-lanes.patch /tmp/patches/
RUN git -C /opt/stack/engine apply /tmp/patches/engine-lanes.patch
RUN python -m pip install --no-deps --no-build-isolation -e /opt/stack/engine -e /opt/stack/trainer
