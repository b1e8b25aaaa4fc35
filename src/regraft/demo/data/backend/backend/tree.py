"""A build backend with no dependencies, so that the demo's installs ask no package registry for anything."""

import base64
import hashlib
import pathlib
import tomllib
import zipfile


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    source = pathlib.Path("src").resolve()
    return _wheel(wheel_directory, lambda name: {f"__editable__.{name}.pth": f"{source}\n".encode()})


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    paths = sorted(path for path in pathlib.Path("src").rglob("*") if path.is_file())
    return _wheel(wheel_directory, lambda _: {path.relative_to("src").as_posix(): path.read_bytes() for path in paths})


def _wheel(folder, contents):
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text("utf-8"))["project"]
    name, version = project["name"], project["version"]
    info = f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {one}" for one in project.get("dependencies", [])]
    files = contents(name)
    files[f"{info}/METADATA"] = ("\n".join(metadata) + "\n").encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tree\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, wheel), "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
