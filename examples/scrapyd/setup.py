"""What goes into the egg; without `py_modules` it would lack settings.py."""

from setuptools import find_packages, setup

setup(
    name="site",
    version="1.0",
    packages=find_packages(),
    py_modules=["settings"],
    entry_points={"scrapy": ["settings = settings"]},
)
