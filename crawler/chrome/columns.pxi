"""What a walk gathers: numbers that become arrays, and the text of a block; part of `walk.pyx`."""

cdef class Column:
    """Numbers, one after another."""

    cdef int64_t* values
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.values)

    cdef int add(self, int64_t value) except -1:
        cdef int64_t* values
        cdef Py_ssize_t room = 2 * self.room + 256
        if self.size == self.room:
            values = <int64_t*>realloc(self.values, room * sizeof(int64_t))
            if values == NULL:
                raise MemoryError
            self.values, self.room = values, room
        self.values[self.size] = value
        self.size += 1
        return 0

    cdef object array(self):
        found = np.empty(self.size, np.int64)
        cdef int64_t[::1] view = found
        if self.size:
            memcpy(&view[0], self.values, self.size * sizeof(int64_t))
        return found


cdef class Text:
    """The UTF-8 of a block that has begun."""

    cdef char* bytes
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.bytes)

    cdef int add(self, const char* bytes) except -1:
        cdef char* wider
        cdef Py_ssize_t size = strlen(bytes) if bytes != NULL else 0
        cdef Py_ssize_t room = 2 * (self.size + size)
        if self.size + size > self.room:
            wider = <char*>realloc(self.bytes, room)
            if wider == NULL:
                raise MemoryError
            self.bytes, self.room = wider, room
        if size:
            memcpy(self.bytes + self.size, bytes, size)
        self.size += size
        return 0

    cdef str decoded(self, Py_ssize_t start):
        return PyUnicode_DecodeUTF8(self.bytes + start, self.size - start, b"replace")

    cdef bint is_ascii(self, Py_ssize_t start) noexcept:
        cdef Py_ssize_t at
        cdef char all_of_them = 0
        for at in range(start, self.size):
            all_of_them |= self.bytes[at]
        return not all_of_them & 0x80

    cdef int64_t squeeze(self) noexcept:
        """Make every run of white space one space, with none at the ends; count the words.

        Of a text in ASCII.
        """
        cdef Py_ssize_t at, length = 0
        cdef int64_t words = 0
        cdef bint between = True
        for at in range(self.size):
            if is_space(self.bytes[at]):
                between = True
                continue
            if between:
                between = False
                words += 1
                if length:
                    self.bytes[length] = b" "
                    length += 1
            self.bytes[length] = self.bytes[at]
            length += 1
        self.size = length
        return words

    cdef int64_t squeezed_from(self, Py_ssize_t start) except -1:
        """How many characters there are from `start` on, a run of white space counted as one."""
        cdef Py_ssize_t at
        cdef int64_t length = 0
        cdef bint between = False
        if not self.is_ascii(start):
            return len(" ".join(self.decoded(start).split()))
        for at in range(start, self.size):
            if is_space(self.bytes[at]):
                between = True
            else:
                length += 1 + (between and length > 0)
                between = False
        return length


cdef inline bint is_space(char char) noexcept:
    """Whether Python's `str.split` parts words there."""
    return char == 32 or 9 <= char <= 13 or 28 <= char <= 31
