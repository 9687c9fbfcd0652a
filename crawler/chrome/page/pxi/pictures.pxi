"""Formulas and icons that are pictures, as `pictures.py` reads them; part of `_reader.pyx`."""

cdef bint[16] is_cell = [code in CELLS for code in range(16)]
cdef int64_t ITEM_CODE = ITEM
cdef int ICONS = MOST_ICONS


cdef int read_picture(Walk found, xmlNode* node) except -1:
    """Read a formula that is a picture, or else an icon and none of those within it."""
    cdef str formula
    if not found.pre and strcmp(<const char*>node.name, b"img") == 0 and may_be_formula(node):
        formula = formula_text(attributes(node))
        if formula:
            found.read(formula.encode("utf-8", "replace"))
            return 0
    if found.icon == NULL and has_icons(found):
        if read_icon(found, node, decoded(<const char*>node.name)):
            found.icon = node
    return 0


cdef bint may_be_formula(xmlNode* node) except -1:
    """Whether a picture has a class, or a text that begins as TeX does, or with a blank."""
    cdef xmlAttr* attribute = node.properties
    cdef xmlNode* text
    while attribute != NULL:
        if strcmp(<const char*>attribute.name, b"class") == 0:
            return True
        if strcmp(<const char*>attribute.name, b"alt") == 0:
            text = attribute.children
            if text != NULL and (
                text.next != NULL or not is_text(text)
                or not 36 < (<const unsigned char*>text.content)[0] < 127
                or (<const char*>text.content)[0] in (b"\\", b"{")
            ):
                return True
        attribute = attribute.next
    return False


cdef bint has_icons(Walk found) noexcept:
    """Whether icons are read at this place, in a cell or an item that has no text yet."""
    cdef int64_t code = found.codes.values[found.of_kind.values[found.element]]
    cdef int64_t parent = found.parents.values[found.element]
    if found.link_depth or found.pre or found.hidden != NULL or found.icons == ICONS:
        return False
    if code != ITEM_CODE and not is_cell[code]:
        if not is_cell[found.codes.values[found.of_kind.values[parent]]]:
            return False
    return found.text.is_blank()


cdef bint read_icon(Walk found, xmlNode* node, str tag) except -1:
    """Read an icon that is all of a cell, or that stands before an item; whether there is one."""
    cdef bint is_item = found.codes.values[found.of_kind.values[found.element]] == ITEM_CODE
    cdef str text = "", name = "", sign
    cdef list parts = []
    cdef bytes bytes
    if not has_icons(found):
        return False
    found.icons += 1
    if tag == DRAWN:
        gather(node, parts)
        text, name = "".join(parts), used_name(node)
    sign = (item_sign if is_item else icon_text)(tag, attributes(node), text, name)
    if not sign:
        return False
    bytes = f"{sign} ".encode("utf-8", "replace")
    found.read(bytes if is_item else b" ")
    if not is_item:
        found.spare.add(bytes)
    return True


cdef str used_name(xmlNode* top):
    """Return the name of the first other drawing in a drawing."""
    cdef xmlNode* node = next_within(top, top)
    cdef str name
    while node != NULL:
        if node.type == XML_ELEMENT_NODE and strcmp(<const char*>node.name, b"use") == 0:
            name = drawing_name(attributes(node))
            if name:
                return name
        node = next_within(node, top)
    return ""


cdef int add_drawn_links(Walk found, xmlNode* top) except -1:
    """Note the links in a drawing, such as a map."""
    cdef xmlNode* node = next_within(top, top)
    while node != NULL:
        if node.type == XML_ELEMENT_NODE and strcmp(<const char*>node.name, b"a") == 0:
            found.head.add_drawn(attributes(node))
        node = next_within(node, top)
    return 0


cdef xmlNode* next_within(xmlNode* node, xmlNode* top) noexcept:
    """The node after `node` in the element `top`; NULL after the last."""
    if node.type == XML_ELEMENT_NODE and node.children != NULL:
        return node.children
    while node != top and node.next == NULL:
        node = node.parent
    return NULL if node == top else node.next
