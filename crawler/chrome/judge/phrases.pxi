"""Features of phrases, as in `phrases.describe_phrases`; part of `_features.pyx`."""

cdef int KINDS = len(phrases.KINDS), PHRASED = 4 * KINDS
cdef Py_ssize_t READ = phrases.READ, MOST_WORDS = phrases.MOST_WORDS, FAR = phrases.FAR
cdef Py_ssize_t FEWEST_LETTERS = phrases.LETTERS.start, MOST_LETTERS = phrases.LETTERS.stop - 1
cdef Py_UCS4 UNSPACED = ord(phrases.UNSPACED)
cdef int64_t BEGUN = 1 << 62  # flag of a first word, which a phrase may begin with
cdef const float[::1] DISTANCES = phrases.DISTANCES


cdef class Table:
    """Kinds of phrases by 64-bit hashes, which are different for all phrases."""

    cdef uint64_t[::1] hashes
    cdef int64_t[::1] kinds
    cdef int bits

    def __init__(self, dict table not None):
        cdef str phrase
        # At most a phrase and its first word each, so half of the slots stay free.
        self.bits = (4 * len(table)).bit_length()
        self.hashes = np.zeros(1 << self.bits, np.uint64)
        self.kinds = np.zeros(1 << self.bits, np.int64)
        for phrase, kinds in table.items():
            self.add(phrase.partition(" ")[0], BEGUN)
            self.add(phrase, kinds)

    cdef int add(self, str phrase, int64_t kinds) except -1:
        cdef uint64_t code = 0
        cdef Py_UCS4 char
        for char in phrase:
            code = mixed(code, char)
        cdef Py_ssize_t slot = self.slot(code)
        self.hashes[slot] = code
        self.kinds[slot] |= kinds
        return 0

    cdef inline Py_ssize_t slot(self, uint64_t code) noexcept:
        cdef Py_ssize_t slot = code >> (64 - self.bits)
        while self.hashes[slot] != code and self.hashes[slot]:
            slot = (slot + 1) & (self.hashes.shape[0] - 1)
        return slot

    cdef inline int64_t find(self, uint64_t code) noexcept:
        return self.kinds[self.slot(code)]


cdef Table PHRASES = Table(phrases.PHRASES)


cdef int of_phrases(float[:, ::1] rows, Py_ssize_t column, list texts) except -1:
    """Write the features of phrases for each block, from `column` on."""
    cdef Py_ssize_t n = rows.shape[0], row, kind
    cdef int64_t whole, begins
    cdef int64_t[::1] hits = np.empty(n, np.int64)
    cdef Py_ssize_t[::1] last = np.full(KINDS, -FAR, np.intp)
    cdef str text
    cdef float* out
    for row in range(n):
        text = texts[row]
        whole = begins = 0
        said(text, &whole, &begins)
        hits[row] = whole | (begins if len(text) <= READ else 0)
        out = &rows[row, column]
        for kind in range(KINDS):
            if hits[row] >> kind & 1:
                last[kind] = row
            out[kind] = whole >> kind & 1
            out[KINDS + kind] = begins >> kind & 1
            out[2 * KINDS + kind] = DISTANCES[min(row - last[kind], FAR)]
    for kind in range(KINDS):
        last[kind] = n + FAR
    for row in range(n - 1, -1, -1):
        out = &rows[row, column + 3 * KINDS]
        for kind in range(KINDS):
            if hits[row] >> kind & 1:
                last[kind] = row
            out[kind] = DISTANCES[min(last[kind] - row, FAR)]
    return 0


cdef int said(str text, int64_t* whole, int64_t* begins) except -1:
    """Write what `phrases.phrase_kinds` returns."""
    cdef Py_ssize_t end = min(<Py_ssize_t>len(text), READ), at, words = 0, letters = 0
    cdef uint64_t code = 0
    cdef int64_t found = 0, by_letters = 0
    cdef Py_UCS4 char
    cdef bint within = False, unspaced = False
    for at in range(end + 1):
        char = lower(text[at]) if at < end else u" "
        if is_part(char):
            if not within:
                within = True
                code = mixed(code, u" ") if words else code
                words += 1
            code = mixed(code, char)
            if words == 1:
                unspaced = char >= UNSPACED if not letters else unspaced
                letters += 1
                if unspaced and FEWEST_LETTERS <= letters <= MOST_LETTERS:
                    by_letters = PHRASES.find(code) & ~BEGUN or by_letters
        elif within:
            within = False
            found = PHRASES.find(code)
            if words == 1 and not found and not unspaced:
                return 0
            if words <= MOST_WORDS:
                begins[0] = found & ~BEGUN or begins[0]
    if end == len(text):
        whole[0] = found & ~BEGUN
    begins[0] = begins[0] or by_letters
    return 0


cdef inline uint64_t mixed(uint64_t code, Py_UCS4 char) noexcept:
    """The hash of a text with one more character."""
    code = (code ^ <uint64_t>char) * 0x9E3779B97F4A7C15ULL
    return code ^ code >> 29


cdef inline Py_UCS4 lower(Py_UCS4 char) noexcept:
    if char < 128:
        return <Py_UCS4>(<int64_t>char + 32) if u"A" <= char <= u"Z" else char
    return Py_UNICODE_TOLOWER(char)


cdef inline bint is_part(Py_UCS4 char) noexcept:
    if char < 128:
        return u"a" <= char <= u"z"
    return char == u"©" or char.isalnum() and not char.isdecimal()
