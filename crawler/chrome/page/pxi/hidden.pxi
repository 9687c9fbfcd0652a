"""Hidden elements within text, as in `hidden.py`; part of `_reader.pyx`."""

cdef int look(Walk found, xmlNode* node, bint link=False) except -1:
    """Note a hidden element within text, or a link that numbers a line."""
    cdef xmlAttr* attribute = node.properties
    cdef const char* name
    cdef bint hidden = False, apart = False, number = False
    while attribute != NULL:
        name = <const char*>attribute.name
        if attribute.ns != NULL:
            pass
        elif strcmp(name, b"style") == 0:
            hidden |= hidden_by(attribute)
            if found.pre and may_hold(attribute, b"select", b"select"):
                number |= is_unselected(text_of(attribute.children))
        elif strcmp(name, b"aria-hidden") == 0:
            apart |= text_of(attribute.children) == "true"
        elif strcmp(name, b"class") == 0:
            if may_hold(attribute, b"ln", b"ine"):
                number |= is_line_number(text_of(attribute.children), found.pre > 0)
        elif found.pre and strcmp(name, UNQUOTED) == 0:
            number = True
        attribute = attribute.next
    if (number and not (hidden or apart)) if link else (hidden or apart or number):
        found.hidden, found.hidden_from = node, found.text.size
        found.apart, found.number = apart, number and not (hidden or apart)
        found.hidden_chars, found.hidden_count = found.link_chars, found.link_count
    return 0


cdef int end_hidden(Walk found) except -1:
    """End a hidden element, if one has begun, and leave it out unless it is long."""
    if found.hidden == NULL:
        return 0
    cdef bint left_out
    found.hidden = NULL
    if found.number:
        left_out = is_number(found.text.decoded_from(found.hidden_from))
    else:
        left_out = found.apart or found.text.squeezed_from(found.hidden_from) <= HIDDEN_CHARS
    if left_out:
        if not found.number and found.text.size > found.hidden_from:
            found.spare.append(
                found.text.bytes + found.hidden_from, found.text.size - found.hidden_from
            )
            found.spare.add(b" ")
            found.spare_count += found.link_count - found.hidden_count
            if found.link_depth:
                found.spare_chars += found.text.squeezed_from(found.hidden_from)
            else:
                found.spare_chars += found.link_chars - found.hidden_chars
        found.text.size = found.hidden_from
        found.linked_from = min(found.linked_from, found.hidden_from)
        if found.dated > found.hidden_from:
            found.dated = 0
        if found.link_end > found.hidden_from:
            found.link_end = 0
        found.link_chars, found.link_count = found.hidden_chars, found.hidden_count
        if found.apart:
            found.text.add(b" ")
    return 0
