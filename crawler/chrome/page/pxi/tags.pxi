"""Remembers the tags of a page; part of `_reader.pyx`."""

# For each tag that has a meaning.
cdef dict MEANT = {
    tag: (elements.kind_of(tag), TAG_CODES.get(tag, OTHER), TAG_BITS.get(tag, 0))
    for tag in (*elements.TAGS, *TAG_CODES, *TAG_BITS)
}

# What stands before the first part of a formula, and before each later one.
cdef dict PARTS = {
    tag: (first.encode(), later.encode()) for tag, (first, later) in elements.FORMULAS.items()
}

cdef enum:
    REMEMBERED_BITS = 8, REMEMBERED = 256  # tags; a power of two
    TRIED = 8  # places for each: ordinary pages have some thirty tags

cdef struct Tag:
    const char* name
    const char* first  # see PARTS; NULL if it is no formula
    const char* later
    int action  # of the reader
    int64_t code, signs


cdef class Tags:
    """Tags by the addresses of their names in libxml2."""

    cdef Tag[REMEMBERED] known
    cdef dict kinds  # for each tag, kinds by class
    cdef list kinds_at  # the same for each remembered tag

    def __cinit__(self):
        self.kinds, self.kinds_at = {}, [None] * REMEMBERED

    cdef int place(self, xmlNode* node) except -1:
        """The place of a tag: a document has one copy of each name, so addresses identify it."""
        cdef const char* name = <const char*>node.name
        # Names are side by side in memory, so only all bits of addresses distinguish them.
        cdef int place = <uint64_t><uintptr_t>name * 0x9E3779B97F4A7C15ULL >> 64 - REMEMBERED_BITS
        cdef int tried
        for tried in range(TRIED):
            if self.known[place].name == name:
                return place
            if self.known[place].name == NULL:
                break
            place = (place + 1) & (REMEMBERED - 1)
        self.remember(place, name)
        return place

    cdef int remember(self, int place, const char* name) except -1:
        cdef Tag* tag = &self.known[place]
        cdef str read = decoded(name)
        meant = MEANT.get(read)
        if meant is None:
            meant = elements.kind_of(read), OTHER, 0
        tag.action, tag.code, tag.signs = meant
        tag.first = tag.later = NULL
        if read in PARTS:
            tag.first, tag.later = <bytes>PARTS[read][0], <bytes>PARTS[read][1]
        self.kinds_at[place] = self.kinds.setdefault(<uintptr_t>name, {})
        tag.name = name
        return 0
