"""A page as columns; part of `_reader.pyx`."""

cdef object flat(Walk found, bint too_deep):
    """Return the page; containers are elements with several blocks."""
    cdef Column depths = Column(), within = Column()
    cdef Column firsts = Column(), ends = Column(), parents = Column(), holders = Column()
    cdef int64_t number, parent, container, first
    cdef int64_t last = min(<int64_t>len(found.texts), MOST_BLOCKS)
    for number in range(found.of_kind.size):
        parent, first = found.parents.values[number], found.firsts.values[number]
        container = within.values[parent] if number else 0
        if not number or (found.ends.values[number] - first > 1 and first < MOST_BLOCKS):
            parents.add(container)
            container = firsts.size
            firsts.add(first)
            ends.add(min(found.ends.values[number], last))
            holders.add(number)
        within.add(container)
        depths.add(depths.values[parent] + 1 if number else 0)
    around, of_kind = found.around.array(), found.of_kind.array()
    return Flat(
        found.texts,
        words=found.words.array(),
        linked=found.linked.array(),
        links=found.links.array(),
        around=around,
        within=within.array()[around],
        codes=found.codes.array()[of_kind],
        signs=found.signs.array(),
        depths=depths.array(),
        kinds=of_kind,
        outer=found.parents.array(),
        firsts=firsts.array(),
        ends=ends.array(),
        parents=parents.array(),
        holders=holders.array(),
        names=found.classes,
        too_deep=too_deep,
        lines=found.lines,
    )
