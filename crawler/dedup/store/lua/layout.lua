-- How the index lies in the server: what every script of this folder shares.
--
-- This text stands in front of each script, so its names are the scripts' own. KEYS[1] is the
-- key of the parameters, "{namespace}:params"; all other keys begin with the same "{namespace}:"
-- and so lie in the same slot of a cluster.
--
-- Tables. A table maps a 27-bit key to the numbers of the pages that have it: one table for URLs,
-- one for exact hashes, one for each band. It is a linear hash table (Litwin, 1980) over small
-- hashes of the server: bucket B of table T is the hash "T:B", its field what is left of the key as
-- a number when the bits that follow from the bucket's number are taken away, its value the page's
-- number, or several with commas between them. Buckets are split one at a time as pages come, so
-- that each stays small enough for the server's compact encoding at any size of the index. The
-- server keeps small numbers in fewer bytes, so that fields get shorter as the index grows: half of
-- them are negative for the sake of that. Keys come as four bytes, of which the highest five bits
-- are dropped.
--
-- Records. Page N has the number of its record: it is element N % 32 of the list "page:<N / 32>",
-- '' where there is none. A list gets no more records when the next might not fit in 8 kB, which
-- is a size that the server's allocator gives without rounding and a list lies in one piece; the
-- numbers that it has left are skipped.

local PREFIX = string.sub(KEYS[1], 1, -7)
local STATE = PREFIX .. 'state'
local OVERRIDES = PREFIX .. 'overrides' -- hash: URL -> keep or drop, what somebody wants of it
local AGAIN = 'again' -- there: somebody took that back, and the page has to be decided anew
local MIN_BUCKETS = 16
local LOAD = 32 -- mean entries in a bucket; the fullest holds about 2.5 times as many
local SLOTS = 32 -- records in a block
local BLOCK_BYTES = 8170 -- of a full block
local MAX_SKIPPED = 64 -- empty blocks of records passed at once when looking for expired ones
local MAX_VALUE = 64 -- bytes of the numbers under a key, in the server's compact encoding
-- A record is: bytes of what it says (1) and of the URL (2); what it says; URL; of a kept page its
-- band keys and then the odd sketch.
local SIZES = '>BI2'
local LAST_SEEN = 10 -- byte of a record where that stands
-- What a record says of every page, then of a copy. Behind it stands, where there is something to
-- say, when a copy was gone, and of a kept page its date, the table key of the URL that it names as
-- canonical, when it was gone, and the number of the page whose place it took.
local BASE, COPY, COPY_MORE, KEPT_MORE = '>c1c1I4I4c4c4I4c16BI2', '>I4I2I2', '>I4', '>I4c4I4I4'
local MORE_BYTES = 7 + struct.size(BASE) + struct.size(KEPT_MORE) -- at most, besides URL and sketch
local NO_KEY = string.rep('\0', 4)
local IS_COPY = {e = true, n = true}

local state -- next: number of the next page; kept: pages that stand for themselves; hand: block of
-- records that is looked at next for what has expired; fill: bytes of the newest block;
-- <group>.n, <group>.size: entries and buckets of the tables of a group

local TABLES -- tables of the group band: key i of a page stands in table i modulo TABLES; nil: each
-- key of a page has a table of its own

local function load_state()
  TABLES = tonumber(redis.call('HGET', KEYS[1], 'tables') or nil)
  local names = {'next', 'fill', 'kept', 'hand', 'url.n', 'url.size', 'exact.n', 'exact.size',
    'band.n', 'band.size'}
  local values = redis.call('HMGET', STATE, unpack(names))
  state = {}
  for i, name in ipairs(names) do
    local default = string.find(name, 'size', 1, true) and MIN_BUCKETS or name == 'next' and 1 or 0
    state[name] = tonumber(values[i]) or default
  end
end

local function save_state()
  local fields = {}
  for name, value in pairs(state) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  redis.call('HSET', STATE, unpack(fields))
end

-- tables -----------------------------------------------------------------------------------------

local function largest_power(size) -- of two, up to size
  local _, exponent = math.frexp(size)
  return 2 ^ (exponent - 1)
end

local HALF_KEYS = 2 ^ 26
local GROUP_SIZES = {url = 'url.size', exact = 'exact.size', band = 'band.size'}
local byte, format, floor = string.byte, string.format, math.floor

-- The hash and field where a key stands.
local function place(group, name, key)
  local a, b, c, d = byte(key, 1, 4)
  local number = ((a % 8 * 256 + b) * 256 + c) * 256 + d
  local size = state[GROUP_SIZES[group]]
  local weight = largest_power(size)
  if number % weight + weight < size then weight = 2 * weight end -- that bucket has been split
  local bucket = number % weight
  return PREFIX .. name .. ':' .. bucket,
    format('%d', (number - bucket) / weight - HALF_KEYS / weight)
end

-- The numbers of the pages that have a key, nil if none has; the hash and field where they stand.
local function find(group, name, key)
  local hash, field = place(group, name, key)
  return redis.call('HGET', hash, field) or nil, hash, field
end

-- Adds a page to a key, given what find said of the key.
local function add(id, ids, hash, field)
  local value = string.format('%d', id)
  if ids then value = ids .. ',' .. value end
  while #value > MAX_VALUE do -- a key that very many pages have tells little: keep the latest
    value = string.match(value, ',(.*)')
  end
  redis.call('HSET', hash, field, value)
end

local function remove(id, ids, hash, field)
  local rest = {}
  for other in string.gmatch(ids or '', '%d+') do
    if tonumber(other) ~= id then rest[#rest + 1] = other end
  end
  if #rest == 0 then
    redis.call('HDEL', hash, field)
  else
    redis.call('HSET', hash, field, table.concat(rest, ','))
  end
end

-- Moves from one bucket of a table to the new bucket `size` what belongs there: the keys in which
-- the bit that now counts is set. It is the lowest of the fields, which lose it.
local function split(name, size)
  local half = largest_power(size)
  local from = PREFIX .. name .. ':' .. size - half
  local entries = redis.call('HGETALL', from)
  local lists = {[0] = {}, {}}
  local offset = HALF_KEYS / half
  for i = 1, #entries, 2 do
    local rest = entries[i] + offset
    local list = lists[rest % 2]
    list[#list + 1] = format('%d', floor(rest / 2) - offset / 2)
    list[#list + 1] = entries[i + 1]
  end
  redis.call('DEL', from)
  if #lists[0] > 0 then redis.call('HSET', from, unpack(lists[0])) end
  if #lists[1] > 0 then redis.call('HSET', PREFIX .. name .. ':' .. size, unpack(lists[1])) end
end

-- Counts one more entry in each table of a group; splits a bucket of each when they are full.
local function grow(group, names)
  local n, size = state[group .. '.n'] + 1, state[group .. '.size']
  state[group .. '.n'] = n
  if n > LOAD * size then
    for _, name in ipairs(names) do split(name, size) end
    state[group .. '.size'] = size + 1
  end
end

local URLS, EXACT = {'url'}, {'exact'}

local function band_names(count)
  local names = {}
  for i = 1, count do names[i] = 'band' .. (i - 1) % (TABLES or count) end
  return names
end

-- How many entries a page with so many keys has in each table of the group band.
local function rounds(count)
  return TABLES and math.ceil(count / TABLES) or 1
end

-- records ----------------------------------------------------------------------------------------

-- The list in which a record stands, and its place there.
local function record(id)
  local slot = id % SLOTS
  return PREFIX .. 'page:' .. (id - slot) / SLOTS, slot
end

-- Notes that a number is given to a page.
local function take_number(id)
  if math.floor(id / SLOTS) > math.floor((state.next - 1) / SLOTS) then state.fill = 0 end
  state.next = id + 1
end

-- Gives a number to a page with a URL and a sketch of so many bytes, or fewer.
local function new_number(size)
  local id = state.next
  if state.fill + size + MORE_BYTES > BLOCK_BYTES then
    id = math.ceil(id / SLOTS) * SLOTS
  end
  take_number(id)
  return id
end

local function unpack_record(id, packed)
  local size, url_size, at = struct.unpack(SIZES, packed)
  local meta, url_at = {id = id}, at + size
  meta.url = string.sub(packed, url_at, url_at + url_size - 1)
  meta.sketch = string.sub(packed, url_at + url_size)
  meta.standing, meta.last, meta.first_seen, meta.last_seen, meta.token, meta.url_key, meta.words,
    meta.exact, meta.level, meta.sampled, at = struct.unpack(BASE, packed, at)
  if IS_COPY[meta.standing] then
    meta.rep, meta.odd_bits, meta.rep_sampled, at = struct.unpack(COPY, packed, at)
    if at < url_at then meta.gone = struct.unpack(COPY_MORE, packed, at) end
  elseif at < url_at then
    meta.date, meta.canonical, meta.gone, meta.replaces = struct.unpack(KEPT_MORE, packed, at)
  end
  return meta
end

-- The record of a page, nil if there is none or the page was last seen before `oldest`.
local function read_record(id, oldest)
  local block, slot = record(id)
  local packed = redis.call('LINDEX', block, slot)
  local meta = packed and packed ~= '' and unpack_record(id, packed)
  if not meta or meta.last_seen < oldest then return nil end
  return meta
end

local function packed_meta(meta)
  local base = struct.pack(BASE, meta.standing, meta.last, meta.first_seen, meta.last_seen,
    meta.token, meta.url_key, meta.words, meta.exact, meta.level, meta.sampled)
  local gone = meta.gone or 0
  if meta.rep then
    base = base .. struct.pack(COPY, meta.rep, meta.odd_bits, meta.rep_sampled)
    return gone > 0 and base .. struct.pack(COPY_MORE, gone) or base
  end
  local date, canonical, replaces = meta.date or 0, meta.canonical or NO_KEY, meta.replaces or 0
  if date + gone + replaces == 0 and canonical == NO_KEY then return base end
  return base .. struct.pack(KEPT_MORE, date, canonical, gone, replaces)
end

local function packed_record(meta)
  local said = packed_meta(meta)
  return struct.pack(SIZES, #said, #meta.url) .. said .. meta.url .. meta.sketch
end

-- Writes the record of a page that has none.
local function write_record(meta)
  local block, slot = record(meta.id)
  local packed = packed_record(meta)
  local length = redis.call('RPUSH', block, packed)
  if length ~= slot + 1 then -- on a cluster pages are not decided in the order of their numbers
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

-- The page that stands for a copy, nil if there is none any more.
local function original_of(meta, oldest)
  local original = read_record(meta.rep, oldest)
  return original and not original.rep and original or nil
end

-- The record of the page with this URL, nil if there is none; what find said of the URL's key.
local function find_url(url, key)
  local ids, hash, field = find('url', 'url', key)
  for id in string.gmatch(ids or '', '%d+') do
    local meta = read_record(tonumber(id), 0)
    if meta and meta.url == url then return meta, ids, hash, field end
  end
  return nil, ids, hash, field
end

-- Notes since when a URL is gone from the web; 0 for a URL never seen.
local function note_gone(url, key, since)
  local meta = find_url(url, key)
  if not meta then return 0 end
  if not is_gone(meta) then
    meta.gone = since
    rewrite_record(meta)
  end
  return 1
end

local function erase(id)
  local block, slot = record(id)
  redis.call('LSET', block, slot, '')
  while redis.call('LINDEX', block, -1) == '' do redis.call('RPOP', block) end
end

-- Takes a kept page out of the tables where copies look for it; odd_size is the bytes of an odd
-- sketch.
local function unlist(meta, odd_size)
  local id = meta.id
  state.kept = state.kept - 1
  if meta.words > 0 then
    remove(id, find('exact', 'exact', string.sub(meta.exact, 1, 4)))
    state['exact.n'] = state['exact.n'] - 1
  end
  local keys = string.sub(meta.sketch, 1, -odd_size - 1)
  if #keys > 0 then
    for i, name in ipairs(band_names(#keys / 4)) do
      remove(id, find('band', name, string.sub(keys, i * 4 - 3, i * 4)))
    end
    state['band.n'] = state['band.n'] - rounds(#keys / 4)
  end
end

-- Takes a page out of every table and its record with it.
local function release(meta, odd_size)
  remove(meta.id, find('url', 'url', meta.url_key))
  state['url.n'] = state['url.n'] - 1
  if not meta.rep then unlist(meta, odd_size) end
  erase(meta.id)
end

-- Gives back the memory of what has expired: a hand goes round all records, a few blocks for each
-- exchange, so that it passes every page once while a quarter as many are checked. take_out(meta)
-- releases one.
local function expire(blocks, oldest, take_out)
  local last = math.floor((state.next - 1) / SLOTS)
  for _ = 1, blocks do
    local skipped = 0
    repeat -- blocks of which nothing is left cost little: pass many of them
      state.hand = state.hand >= last and 0 or state.hand + 1
      local first = state.hand * SLOTS
      local records = redis.call('LRANGE', (record(first)), 0, -1)
      for i, packed in ipairs(records) do
        if packed ~= '' and struct.unpack('>I4', packed, LAST_SEEN) < oldest then
          take_out(unpack_record(first + i - 1, packed))
        end
      end
      skipped = skipped + 1
    until #records > 0 or skipped == MAX_SKIPPED
  end
end

-- What a page's record says, packed for the client: last and standing verdict (a letter each),
-- number of the kept page that stands for it (4 bytes), bits in which the odd sketches of the two
-- differ (2), sampled shingles of the page (2) and of the other (2), their level (1), flags (1):
-- the sum of the following.
local CANONICAL_KNOWN, REPLACES, GONE = 1, 2, 4

local function packed_evidence(meta, flags)
  return struct.pack('>c1c1I4I2I2I2BB', meta.last, meta.standing, meta.rep or meta.id,
    meta.rep and meta.odd_bits or 0, meta.sampled, meta.rep and meta.rep_sampled or 0, meta.level,
    (flags or 0) + (is_gone(meta) and GONE or 0))
end

-- The same and then a URL: of the page whose place this one took when it was checked last (flag
-- REPLACES), else of the page that stands for it, nothing where there is none.
local function evidence(meta, flags)
  if meta.rep then
    local original = original_of(meta, 0)
    return packed_evidence(meta, flags) .. (original and original.url or '')
  end
  if (meta.replaces or 0) == 0 or meta.last == '=' then return packed_evidence(meta, flags) end
  local loser = read_record(meta.replaces, 0)
  return packed_evidence(meta, (flags or 0) + REPLACES) .. (loser and loser.url or '')
end
