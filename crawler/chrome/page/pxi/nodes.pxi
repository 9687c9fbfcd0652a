"""Reads nodes of a tree; part of `_reader.pyx`."""

cdef inline bint is_text(xmlNode* node) noexcept:
    return node.type == XML_TEXT_NODE or node.type == XML_CDATA_SECTION_NODE


cdef inline str decoded(const char* text):
    return PyUnicode_DecodeUTF8(text, strlen(text), b"replace") if text != NULL else ""


cdef str text_of(xmlNode* node):
    """Return the text of a node and those after it."""
    if node == NULL:
        return ""
    if node.next == NULL:
        return decoded(<const char*>node.content) if is_text(node) else ""
    parts = []
    while node != NULL:
        if is_text(node):
            parts.append(decoded(<const char*>node.content))
        node = node.next
    return "".join(parts)


cdef bint hidden_by(xmlAttr* style) except -1:
    """Whether a style attribute hides its element."""
    cdef const char* text
    if style.children != NULL and style.children.next == NULL and is_text(style.children):
        text = <const char*>style.children.content
        while text[0] | 32 != b"n" or text[1] | 32 != b"o" or text[2] | 32 != b"n":
            if text[0] | 32 == b"d" and text[1] | 32 == b"d" and text[2] | 32 == b"e":
                break
            if text[0] == 0:
                return False
            text += 1
    return hides_element(text_of(style.children))


cdef inline bint may_hold(xmlAttr* attribute, const char* one, const char* other) noexcept:
    """Whether an attribute may have one of two words; few elements have, even in code."""
    cdef xmlNode* text = attribute.children
    if text == NULL or text.next != NULL or not is_text(text):
        return True
    return (
        strstr(<const char*>text.content, one) != NULL
        or strstr(<const char*>text.content, other) != NULL
    )


cdef object value(xmlNode* node, const char* name):
    """Return an attribute, or None."""
    cdef xmlAttr* attribute = node.properties
    while attribute != NULL:
        if attribute.ns == NULL and strcmp(<const char*>attribute.name, name) == 0:
            return text_of(attribute.children)
        attribute = attribute.next
    return None


cdef dict attributes(xmlNode* node):
    cdef xmlAttr* attribute = node.properties
    found = {}
    while attribute != NULL:
        if attribute.ns == NULL:
            found[decoded(<const char*>attribute.name)] = text_of(attribute.children)
        attribute = attribute.next
    return found


cdef int gather(xmlNode* top, list texts) except -1:
    """Append all text of an element."""
    cdef xmlNode* node = top
    while True:
        if is_text(node):
            texts.append(decoded(<const char*>node.content))
        if node.type == XML_ELEMENT_NODE and node.children != NULL:
            node = node.children
            continue
        while node != top and node.next == NULL:
            node = node.parent
        if node == top:
            return 0
        node = node.next
