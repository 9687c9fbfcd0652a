"""Growing columns of numbers, and the text of a block; part of `_reader.pyx`."""

cdef class Column:
    """A growing column of numbers."""

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
        cdef Py_ssize_t size = self.size * sizeof(int64_t)
        return np.frombuffer(PyByteArray_FromStringAndSize(<char*>self.values, size), np.int64)


cdef class Text:
    """The text of the block that is being read, in UTF-8."""

    cdef char* bytes
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.bytes)

    cdef int add(self, const char* bytes) except -1:
        return self.append(bytes, strlen(bytes)) if bytes != NULL else 0

    cdef int append(self, const char* bytes, Py_ssize_t size) except -1:
        cdef char* wider
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

    cdef int insert(self, Py_ssize_t at, char byte) except -1:
        self.append(&byte, 1)
        memmove(self.bytes + at + 1, self.bytes + at, self.size - at - 1)
        self.bytes[at] = byte
        return 0

    cdef bint ends_in_word(self) noexcept:
        """Whether the last character is a letter or digit of ASCII."""
        return self.size > 0 and is_word(self.bytes[self.size - 1])

    cdef str decoded(self):
        return self.decoded_from(0)

    cdef str decoded_from(self, Py_ssize_t start):
        if start == self.size:
            return ""
        return PyUnicode_DecodeUTF8(self.bytes + start, self.size - start, b"replace")

    cdef int64_t squeeze(self) noexcept:
        """Make each run of white space one space, strip the ends; return the number of words."""
        cdef char* bytes = self.bytes  # for all C knows, a write to these could change `self`
        cdef Py_ssize_t size = self.size, at = 0, length = 0
        cdef int64_t words = 0
        cdef bint between = True
        cdef int space
        while at < size:
            space = space_at(bytes + at, size - at)
            if space:
                between = True
                at += space
                continue
            if between:
                between = False
                words += 1
                if length:
                    bytes[length] = b" "
                    length += 1
            bytes[length] = bytes[at]
            length += 1
            at += 1
        self.size = length
        return words

    cdef bint is_blank(self) noexcept:
        """Whether there is nothing but white space."""
        cdef Py_ssize_t at = 0
        cdef int space
        while at < self.size:
            space = space_at(self.bytes + at, self.size - at)
            if not space:
                return False
            at += space
        return True

    cdef int white_before(self, Py_ssize_t end) noexcept:
        """The number of bytes of `elements.WHITE` before a place."""
        cdef unsigned char last = self.bytes[end - 1]
        if last == 0xA0 and end > 1:
            return 2 * (<unsigned char>self.bytes[end - 2] == 0xC2)
        return last == 32 or last == 9 or last == 10 or last == 12 or last == 13 or last == 31

    cdef bint has_hyphen_at_end(self) noexcept:
        """Whether a hyphen stands at the end of a line."""
        cdef const char* at = self.bytes
        cdef const char* end = self.bytes + self.size
        while True:
            at = <const char*>memchr(at, b"-", end - at)
            if at == NULL or at + 1 >= end:
                return False
            at += 1
            if at[0] == b"\n":
                return True

    cdef int64_t squeezed_from(self, Py_ssize_t start) noexcept:
        """The number of characters from `start` on, where a run of white space counts as one."""
        cdef int64_t length = 0
        cdef bint between = False
        cdef int space
        while start < self.size:
            space = space_at(self.bytes + start, self.size - start)
            if space:
                between = True
                start += space
                continue
            if self.bytes[start] & 0xC0 != 0x80:  # the first byte of a character
                length += 1 + (between and length > 0)
                between = False
            start += 1
        return length


cdef inline bint is_digit(char char) noexcept:
    return b"0" <= char <= b"9"


cdef inline bint is_word(char char) noexcept:
    return is_digit(char) or b"a" <= (char | 32) <= b"z"


cdef inline int space_at(const char* text, Py_ssize_t left) noexcept:
    """The bytes of the white space here, as `str.split` knows it; 0 if there is none."""
    cdef unsigned char first = text[0], second, third
    if 32 < first < 0x80:
        return 0
    if first <= 32:
        return first == 32 or 9 <= first <= 13 or 28 <= first
    if left < 2 or (first != 0xC2 and not 0xE1 <= first <= 0xE3):
        return 0
    second = text[1]
    if first == 0xC2:
        return 2 * (second == 0x85 or second == 0xA0)
    third = text[2] if left > 2 else 0
    if first == 0xE2 and second == 0x80:
        return 3 * (0x80 <= third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF)
    return 3 * (
        (first == 0xE1 and second == 0x9A and third == 0x80)
        or (first == 0xE2 and second == 0x81 and third == 0x9F)
        or (first == 0xE3 and second == 0x80 and third == 0x80)
    )
