"""One command, which relies on both patches that this project carries over click."""

import click


@click.command()
@click.option("--title", default="", show_default=True, help="The note's title.")
def note(title: str) -> None:
    """Write a note in the editor."""
    text = click.edit("")
    click.echo(f"{title}: {text}")
