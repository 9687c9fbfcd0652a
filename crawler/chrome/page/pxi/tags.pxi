"""What is remembered of the tags of a page; part of `_reader.pyx`."""

# Of each tag that means something.
cdef dict MEANT = {
    tag: (elements.kind_of(tag), TAG_CODES.get(tag, OTHER), TAG_BITS.get(tag, 0))
    for tag in (*elements.TAGS, *TAG_CODES, *TAG_BITS)
}

cdef enum:
    REMEMBERED_BITS = 8, REMEMBERED = 256  # tags; a power of two
    TRIED = 8  # places for each: pages for people have some thirty tags

cdef struct Tag:
    const char* name
    int action  # what the reader does at it
    int64_t code, signs


cdef class Tags:
    """Found by where libxml2 keeps their names."""

    cdef Tag[REMEMBERED] known
    cdef dict kinds  # by class, of each name of a tag
    cdef list kinds_at  # of each tag that is remembered

    def __cinit__(self):
        self.kinds, self.kinds_at = {}, [None] * REMEMBERED

    cdef int place(self, xmlNode* node) except -1:
        """Where a tag of that name is remembered; of a name a document has one copy."""
        cdef const char* name = <const char*>node.name
        # Names stand side by side in memory, so that only all bits tell them apart.
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
        self.kinds_at[place] = self.kinds.setdefault(<uintptr_t>name, {})
        tag.name = name
        return 0
