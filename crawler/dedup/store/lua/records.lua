-- The records of pages. This text is put behind layout.lua.
--
-- The record of page N is element N % 48 of the list "page:<N / 48>", '' where there is none. A list
-- gets no more records when the next might not fit in 8 kB, the size up to which a list is in one
-- piece and which the server's allocator does not round up; the list's remaining numbers are skipped.
--
-- A record is: bytes of its fields, plus 64 times the number of its URL's beginning in BEGINNINGS,
-- 0 if the URL has no such beginning (1); bytes of the rest of the URL, plus FETCHED if the page was fetched
-- under another spelling of it (2); the fields; the rest of the URL; the other spelling, if any: the bytes
-- that follow for it (2), how many bytes at the beginning (2) and at the end (1) it shares with the whole
-- URL, what is between them; of a kept page its anchors, its band keys and then the odd sketch. An anchor
-- is its table key (4) and data on the shingles around it (4), see crawler/dedup/sketches/anchors.py; the
-- server compares none.

local SIZES = '>BI2'
local FETCHED = 32768 -- more than the bytes of any URL
local LEAST_FETCHED = 3 -- bytes of another spelling
local BEGINNINGS = {'https://www.', 'https://', 'http://'}
local LAST_SEEN = 10 -- position of this field in a record
local SLOTS = 48 -- records in a block
local BLOCK_BYTES = 8170 -- of a full block
local STEP, MAX_PASSED = 32, 64 -- pages, and buckets, that a step of expire looks at
-- The fields of a record:
-- * BASE, of every page
-- * of a copy: COPY; COPY_MORE, since when the page is gone, if it is
-- * of a kept page: KEPT_MORE, if it has a value: date (the rank of earlier versions), table key of the
--   canonical URL, since when the page is gone, number of the page whose place it took; then its own
--   content, if known: hash of its heading (2 bytes, 0 if it has none), fours of words that are not of
--   the site's template (1), number of contents from which this template was known when these words were
--   counted (1), the last two at most 255
-- * of a page with anchors, the number of anchors (1)
-- * of a page with a rank or anchors, the bytes of the rank (1); the rank is in front of the rest of the URL
-- So the bytes of the fields are a multiple of 4 plus 1 without rank and anchors, plus 2 with a rank
-- alone, plus 3 with anchors.
local BASE, COPY, COPY_MORE, KEPT_MORE = '>c1c1I4I4c4c4I4c12BI2', '>I4I2I2', '>I4', '>I4c4I4I4'
local OWN_BYTES, ANCHOR_BYTES = 4, 8
-- The largest number of bytes of a record without URL, sketch, rank and anchors.
local MORE_BYTES = 8 + struct.size(BASE) + struct.size(KEPT_MORE) + OWN_BYTES
local NONE = {}
local NO_KEY = string.rep('\0', 4)
local NO_OWN = NO_KEY -- of a page whose own content is unknown
local CONTESTED = string.rep('\255', 2) -- at the end of a token: decide the page anew, see pages.lua
local CHOSEN = '\0' -- rank of a page that a person preferred: none is better
local IS_COPY = {e = true, n = true}
local IS_AGAIN = {['='] = true, r = true} -- verdicts of pages with an unchanged text

-- The list that a record is in, and the record's place there.
local function record(id)
  local slot = id % SLOTS
  return PREFIX .. 'page:' .. (id - slot) / SLOTS, slot
end

-- Notes that a number is given to a page.
local function take_number(id)
  if math.floor(id / SLOTS) > math.floor((state.next - 1) / SLOTS) then state.fill = 0 end
  state.next = id + 1
end

-- An error if the numbers might not suffice for this many more pages, nil if they do.
local function out_of_numbers(pages)
  if (state.next + (pages + 1) * SLOTS) * SHARDS < MORE then return nil end
  return redis.error_reply('NUMBERS of pages have come to an end')
end

-- Returns the number of a new page whose URL, sketch, rank and anchors have at most `size` bytes.
local function new_number(size)
  local id = state.next
  if state.fill + size + MORE_BYTES > BLOCK_BYTES then
    id = math.ceil(id / SLOTS) * SLOTS
  end
  take_number(id)
  return id
end

-- Unpacks a record; an error if the record is cut.
local function unpack_record(id, packed)
  local size, url_size, at = struct.unpack(SIZES, packed)
  local beginning, said_end = floor(size / 64), at + size % 64
  local tail = math.max(0, size % 4 - 1) -- number of the last fields, for rank and anchors
  local url_at = said_end + (tail > 0 and byte(packed, said_end - 1) or 0)
  local rest_at, fetched = url_at + url_size % FETCHED, nil
  if url_size >= FETCHED then
    local fetched_size
    url_size, fetched_size, rest_at = url_size - FETCHED, unpack_at('>I2', packed, rest_at)
    assert(fetched_size >= LEAST_FETCHED)
    fetched, rest_at = string.sub(packed, rest_at, rest_at + fetched_size - 1), rest_at + fetched_size
  end
  assert(#packed >= rest_at - 1)
  local url = (BEGINNINGS[beginning] or '') .. string.sub(packed, url_at, url_at + url_size - 1)
  local standing, last, first_seen, last_seen, token, url_key, words, exact, level, sampled, more =
    struct.unpack(BASE, packed, at)
  local meta = {id = id, url = url, sketch = string.sub(packed, rest_at), standing = standing,
    last = last, first_seen = first_seen, last_seen = last_seen, token = token, url_key = url_key,
    words = words, exact = exact, level = level, sampled = sampled}
  if fetched then meta.fetched = fetched end
  if IS_COPY[standing] then
    meta.rep, meta.odd_bits, meta.rep_sampled, at = struct.unpack(COPY, packed, more)
    if at < said_end then meta.gone = struct.unpack(COPY_MORE, packed, at) end
    return meta
  end
  meta.rank = string.sub(packed, said_end, url_at - 1)
  if tail == 2 then
    local anchors_size = byte(packed, said_end - 2) * ANCHOR_BYTES
    meta.anchors = string.sub(meta.sketch, 1, anchors_size)
    meta.sketch = string.sub(meta.sketch, anchors_size + 1)
  end
  said_end = said_end - tail
  if more + OWN_BYTES < said_end then
    local date
    date, meta.canonical, meta.gone, meta.replaces, more = struct.unpack(KEPT_MORE, packed, more)
    if date > 0 then meta.rank = pack('>I4', date) end
  end
  meta.own = more < said_end and string.sub(packed, more, said_end - 1) or NO_OWN
  return meta
end

-- The record of a page, nil if there is none, if it is cut, or if the page was last seen before `oldest`.
local function read_record(id, oldest)
  local block, slot = record(id)
  local packed = redis.call('LINDEX', block, slot)
  if not packed or packed == '' then return nil end
  local is_whole, meta = pcall(unpack_record, id, packed)
  if not is_whole or meta.last_seen < oldest then return nil end
  return meta
end

-- Whether the page of a packed record was last seen before `oldest`; false or nil for no or a cut record.
local function has_expired(packed, oldest)
  return packed and #packed >= LAST_SEEN + 3 and unpack_at('>I4', packed, LAST_SEEN) < oldest
end

local function packed_meta(meta)
  local base = struct.pack(BASE, meta.standing, meta.last, meta.first_seen, meta.last_seen,
    meta.token, meta.url_key, meta.words, meta.exact, meta.level, meta.sampled)
  local gone = meta.gone or 0
  if meta.rep then
    base = base .. struct.pack(COPY, meta.rep, meta.odd_bits, meta.rep_sampled)
    return gone > 0 and base .. struct.pack(COPY_MORE, gone) or base
  end
  local own = (meta.own or NO_OWN) ~= NO_OWN and meta.own or ''
  local canonical, replaces = meta.canonical or NO_KEY, meta.replaces or 0
  if gone + replaces == 0 and canonical == NO_KEY then return base .. own end
  return base .. struct.pack(KEPT_MORE, 0, canonical, gone, replaces) .. own
end

local function packed_record(meta)
  local said, number, rest = packed_meta(meta), 0, meta.url
  local rank = not meta.rep and meta.rank or ''
  local anchors = not meta.rep and meta.anchors or ''
  if anchors ~= '' then said = said .. string.char(#anchors / ANCHOR_BYTES) end
  if rank ~= '' or anchors ~= '' then said = said .. string.char(#rank) end
  for i, beginning in ipairs(BEGINNINGS) do
    if string.sub(rest, 1, #beginning) == beginning then
      number, rest = i, string.sub(rest, #beginning + 1)
      break
    end
  end
  local url_size = #rest
  if meta.fetched then
    url_size, rest = url_size + FETCHED, rest .. pack('>I2', #meta.fetched) .. meta.fetched
  end
  return struct.pack(SIZES, #said + 64 * number, url_size) .. said .. rank .. rest .. anchors .. meta.sketch
end

-- The URL of a page as it was last fetched, for people; its record is known by `url`.
local function shown_url(meta)
  if not meta.fetched then return meta.url end
  local first, last = unpack_at('>I2B', meta.fetched)
  return string.sub(meta.url, 1, first) .. string.sub(meta.fetched, LEAST_FETCHED + 1)
    .. string.sub(meta.url, #meta.url - last + 1)
end

-- Writes the record of a page that has none.
local function write_record(meta)
  local block, slot = record(meta.id)
  local packed = packed_record(meta)
  local length = redis.call('RPUSH', block, packed)
  if length ~= slot + 1 then -- on a cluster, pages are not decided in the order of their numbers
    redis.call('RPOP', block)
    for _ = length, slot + 1 do redis.call('RPUSH', block, '') end
    redis.call('LSET', block, slot, packed)
  end
  if meta.id - slot + SLOTS >= state.next then state.fill = state.fill + #packed + 4 end
end

local function rewrite_record(meta)
  local block, slot = record(meta.id)
  redis.call('LSET', block, slot, packed_record(meta))
end

local function is_gone(meta)
  return (meta.gone or 0) > 0
end
