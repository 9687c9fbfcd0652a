"""Texts of PDF, Word and EPUB files, without Scrapy, Redis or HTML pages."""

from .reading_process import FILE_TYPES, FileError, FileText, can_read_files, is_file, read_file

__all__ = ["FILE_TYPES", "FileError", "FileText", "can_read_files", "is_file", "read_file"]
