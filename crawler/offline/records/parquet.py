"""The rows of Parquet files."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Set
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, cast

from ...dedup.errors import InputError
from ...dedup.ranks import DATES
from .files import DAMAGED, import_extra, up_to_damage

if TYPE_CHECKING:
    from ...dedup.config import DedupConfig

SIZE_FIELD: Final = "cluster_size"  # number of pages in a kept page's cluster, itself included
_TEXTS: Final = frozenset(
    {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}
    | {"fixed_size_binary", "null"}
)
# Errors for a cell that Python has no value for, such as a date after the year 9999.
_NO_VALUE: Final = (ValueError, OverflowError, KeyError)  # KeyError: an unknown time zone
_ROWS: Final = 256  # read at a time
_ROW_GROUP: Final = 64 << 20  # bytes of rows that are written together


class NothingReadable(ValueError):
    """No record of a file can be read."""


def refuse_columns(path: str, config: DedupConfig) -> None:
    """Raise :class:`InputError` for a file whose columns cannot hold pages, by name or type.

    A file that cannot be read is skipped: the job itself reports how much of it can be read.
    """
    parquet = import_extra("pyarrow.parquet")
    try:
        schema = parquet.read_schema(path)
    except DAMAGED:
        return
    pages = {config.text_field: "DEDUP_TEXT_FIELD", config.html_field: "DEDUP_HTML_FIELD"}
    _refuse_repeated(repr(path), schema.names, {*pages, config.url_field, config.date_field})
    found = [name for name in pages if name in schema.names]
    if not found:
        raise InputError(
            f"{path!r} has no column {' or '.join(map(repr, sorted(pages)))}, but "
            f"{', '.join(schema.names)}: DEDUP_TEXT_FIELD and DEDUP_HTML_FIELD name the columns "
            "of pages"
        )
    if config.scope_field not in (None, *schema.names):  # as where only the folder's name has it
        raise InputError(f"{path!r} has no column {config.scope_field!r}, which DEDUP_SCOPE names")
    if not any(_is_text(schema.field(name).type) for name in found):
        _refuse_column(path, schema, found[0], pages[found[0]], "texts")
    url, date = config.url_field, config.date_field
    types = import_extra("pyarrow.types")
    if url in schema.names:
        kind = schema.field(url).type
        if not (_is_text(kind) or types.is_integer(kind)):
            _refuse_column(path, schema, url, "DEDUP_URL_FIELD", "texts or whole numbers")
    if date in schema.names and DATES.intersection(config.prefer):
        kind = schema.field(date).type
        kind = kind.value_type if types.is_list(kind) else kind  # a list of one is that one
        if not (_is_text(kind) or types.is_date(kind) or types.is_timestamp(kind)):
            _refuse_column(path, schema, date, "DEDUP_DATE_FIELD", "dates or texts")


def _refuse_repeated(file: str, names: list[str], wanted: Set[str]) -> None:
    for name in names:
        if name in wanted and names.count(name) > 1:
            raise InputError(f"{file} has more than one column {name!r}: rename all but one")


def _is_text(kind: Any) -> bool:
    """Whether a column of this type may hold texts, also as bytes or in a dictionary."""
    if import_extra("pyarrow.types").is_dictionary(kind):
        kind = kind.value_type
    return str(kind).partition("[")[0] in _TEXTS


def _refuse_column(path: str, schema: Any, name: str, setting: str, wanted: str) -> NoReturn:
    kind = schema.field(name).type
    raise InputError(
        f"column {name!r} of {path!r} holds {kind}, not {wanted}; {setting} names another column"
    )


def rows_in(
    stream: IO[bytes], wanted: Set[str], more: Set[str] = frozenset(), *, is_copied: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number and content of each row, with the columns that the file has of these.

    If it is to be copied, all columns are read, because damage in another one ends the copy, too.
    Raises :class:`InputError` for a file without `wanted` columns, or with two of one name.
    """
    file = import_extra("pyarrow.parquet").ParquetFile(stream)
    columns = [name for name in file.schema_arrow.names if name in wanted | more]
    _refuse_repeated("it", columns, wanted | more)
    if wanted.isdisjoint(columns):
        raise InputError(
            f"it has none of the columns {', '.join(sorted(wanted))}, which DEDUP_URL_FIELD, "
            "DEDUP_TEXT_FIELD and DEDUP_HTML_FIELD name"
        )
    place = 0
    for batch in file.iter_batches(_ROWS, columns=None if is_copied else columns):
        for row in _read_rows(batch.select(columns)):
            yield place, row
            place += 1


def _read_rows(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch. Texts may be declared as UTF-8 and not be it: Spark does not check."""
    try:
        return cast(list[dict[str, Any]], batch.to_pylist())
    except _NO_VALUE:
        names = batch.schema.names
        cells = zip(*map(_decode_cells, batch.columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in cells]


def _decode_cells(column: Any) -> list[Any]:
    pa, types = import_extra("pyarrow"), import_extra("pyarrow.types")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if str(column.type) not in ("string", "large_string", "string_view"):
        return [_read_cell(cell) for cell in column]
    cells = column.cast(pa.large_binary()).to_pylist()
    return [None if cell is None else cell.decode("utf-8", "replace") for cell in cells]


def _read_cell(cell: Any) -> Any:
    try:
        return cell.as_py()
    except _NO_VALUE:
        return None


def copy_rows(
    stream: IO[bytes],
    first: int,
    dropped: Container[int],
    output: IO[bytes],
    copies: Mapping[int, int] | None = None,
) -> int:
    """Write all rows except those numbered `dropped`, counted from `first`; return how many.

    `copies` maps the numbers of rows to the number of their copies; with it, rows get a column
    ``cluster_size``. Raises :class:`NothingReadable` for a file that is not Parquet.
    """
    pa, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(stream)
    except ValueError as error:
        raise NothingReadable from error
    schema, waiting, size, written = file.schema_arrow, [], 0, 0
    if copies is not None:
        schema = _with_size(schema)
    with parquet.ParquetWriter(output, schema, compression=_codec_of(file)) as writer:
        for length, rows in _kept_rows(file, first, dropped, copies):
            waiting += rows
            size += length
            written += sum(one.num_rows for one in rows)
            if size > _ROW_GROUP:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting, size = [], 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return written


def _kept_rows(
    file: Any, place: int, dropped: Container[int], copies: Mapping[int, int] | None
) -> Iterator[tuple[int, list[Any]]]:
    """Yield, for each batch with kept rows, its size in bytes, and these rows.

    They are slices, because Arrow cannot filter all of its types.
    """
    with up_to_damage():
        for batch in file.iter_batches(_ROWS):
            numbers = groupby(range(place, place + batch.num_rows), dropped.__contains__)
            runs = [list(run) for is_dropped, run in numbers if not is_dropped]
            if copies is not None:
                sizes = [
                    copies.get(number, 0) + 1 for number in range(place, place + batch.num_rows)
                ]
                batch = _add_sizes(batch, sizes)
            if runs:
                yield batch.nbytes, [batch.slice(run[0] - place, len(run)) for run in runs]
            place += batch.num_rows


def _with_size(schema: Any) -> Any:
    """The schema with ``cluster_size`` as its last field, in place of any field of that name."""
    pa = import_extra("pyarrow")
    own = [field for field in schema if field.name != SIZE_FIELD]
    return pa.schema([*own, pa.field(SIZE_FIELD, pa.int64())], schema.metadata)


def _add_sizes(batch: Any, sizes: list[int]) -> Any:
    pa = import_extra("pyarrow")
    own = [place for place, name in enumerate(batch.schema.names) if name != SIZE_FIELD]
    columns = [*(batch.column(place) for place in own), pa.array(sizes, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=_with_size(batch.schema))


def _codec_of(file: Any) -> str:
    """The codec of a file's first column; Snappy if there is none that Arrow can write."""
    known = file.metadata
    has_one = known.num_row_groups and known.num_columns
    name = str(known.row_group(0).column(0).compression) if has_one else "SNAPPY"
    # Arrow has no name for the LZ4 of Hadoop, which Spark and Hive wrote for years.
    return {"UNCOMPRESSED": "NONE", "UNKNOWN": "SNAPPY"}.get(name, name)
