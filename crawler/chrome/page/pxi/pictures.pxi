"""Formulas and icons that are pictures, as `pictures.py` reads them; part of `_reader.pyx`."""

cdef bint[16] is_cell = [code in CELLS for code in range(16)]
cdef int64_t ITEM_CODE = ITEM
cdef int ICONS = MOST_ICONS


cdef int read_picture(Walk found, xmlNode* node) except -1:
    """Read a formula that is a picture, or else an icon and none of those within it."""
    cdef str formula
    if not found.pre and strcmp(<const char*>node.name, b"img") == 0:
        formula = formula_text(attributes(node)) if value(node, b"alt") else ""
        if formula:
            found.read(formula.encode("utf-8", "replace"))
            return 0
    if found.icon == NULL and has_icons(found):
        if read_icon(found, node, decoded(<const char*>node.name)):
            found.icon = node
    return 0


cdef bint has_icons(Walk found) noexcept:
    """Whether icons are read at this place."""
    cdef int64_t code = found.codes.values[found.of_kind.values[found.element]]
    cdef int64_t parent = found.parents.values[found.element]
    if found.link_depth or found.pre or found.unseen != NULL or found.icons == ICONS:
        return False
    return code == ITEM_CODE or is_cell[code] or is_cell[found.codes.values[found.of_kind.values[parent]]]


cdef bint read_icon(Walk found, xmlNode* node, str tag) except -1:
    """Read an icon that is all of a cell, or that stands before an item; whether there is one."""
    cdef bint is_item = found.codes.values[found.of_kind.values[found.element]] == ITEM_CODE
    cdef str text = "", name = "", sign
    cdef list parts = []
    cdef bytes bytes
    if not has_icons(found):
        return False
    if tag == DRAWN:
        gather(node, parts)
        text, name = "".join(parts), used_name(node)
    if is_item:
        sign = item_sign(tag, attributes(node), name)
    else:
        sign = icon_text(tag, attributes(node), text, name)
    if not sign:
        return False
    found.icons += 1
    if found.text.squeezed_from(0):
        return False
    bytes = f"{sign} ".encode("utf-8", "replace")
    found.read(bytes if is_item else b" ")
    if not is_item:
        found.spare.add(bytes)
    return True


cdef str used_name(xmlNode* top):
    """Return the name of the first other drawing in a drawing."""
    cdef xmlNode* node = top
    cdef str name
    while True:
        if node.type == XML_ELEMENT_NODE:
            if node != top and strcmp(<const char*>node.name, b"use") == 0:
                name = drawing_name(attributes(node))
                if name:
                    return name
            if node.children != NULL:
                node = node.children
                continue
        while node != top and node.next == NULL:
            node = node.parent
        if node == top:
            return ""
        node = node.next
