-- The layout of the index in the server: its state and its tables. records.lua has the records.
--
-- This text is put in front of each script, so scripts can use its local names. KEYS[1] is the
-- key of the parameters, "{namespace}:params"; all other keys begin with the same "{namespace}:"
-- and so lie in the same slot of a cluster.
--
-- Tables. A table maps a 27-bit key to the numbers of the pages that have this key: one table for
-- URLs, one for exact hashes, one for each band, and one for anchors if the index has the parameter
-- containment. A table is a linear hash table (Litwin, 1980) over strings of the server: bucket B of
-- table T is the string "T:B", which holds entries in no order and then free entries. Buckets are
-- split one at a time as pages are added, so that the table grows with the index.
-- An entry is the upper 24 bits of the key (3 bytes; the number of the bucket tells the lower three
-- bits) and the number of the page (4); a free entry has all bits set. Keys are passed as four
-- bytes, and their highest five bits are dropped.

local PREFIX = string.sub(KEYS[1], 1, -7)
local STATE = PREFIX .. 'state'
local OVERRIDES = PREFIX .. 'overrides' -- hash: URL -> keep or drop, its override
local AGAIN = 'again' -- in place of keep or drop: the override was removed, and the page has to be checked anew
local MIN_BUCKETS = 8 -- 2^3, for the three bits of a key that an entry lacks
local LOAD = 96 -- mean number of entries in a bucket; the fullest bucket holds about three times as many
local MAX_PAGES = 16 -- stored under one key
local MORE = 255 * 2 ^ 24 - 1 -- stored under a key in place of pages beyond MAX_PAGES, for audits

local NAMES = {'next', 'fill', 'kept', 'hand', 'url.n', 'exact.n', 'band.n', 'url.size',
  'exact.size', 'band.size', 'clock', 'checked', 'crawled'}
local state -- next: number of the next page; kept: number of kept pages; hand: bucket of the table of
-- URLs that was last searched for expired pages; fill: bytes of the newest block;
-- clock: the latest time at which a page was seen or a crawl began, see crawl.lua;
-- checked, crawled: when a page was last checked, and when the last crawl began, for people;
-- <group>.n, <group>.size: entries and buckets of each table of a group
local stored -- the values as they were loaded, in the order of NAMES

local TABLES -- number of tables of the group band: key i of a page is in table i modulo TABLES; nil:
-- each key of a page has its own table
local HAS_ANCHORS -- whether pages are found by their anchors, see records.lua
local SHARDS -- number of shards: the global number of a page is about its local number times this

-- Raises an error if the index has records or URLs but no state, as on a server that evicts keys. Its
-- numbers would be given to other pages, and copies would point to these.
local function see_that_it_is_new()
  local keys = {PREFIX .. 'page:0'}
  for bucket = 0, MIN_BUCKETS - 1 do keys[#keys + 1] = PREFIX .. 'url:' .. bucket end
  if redis.call('EXISTS', unpack(keys)) > 0 then error('the state of the index is lost', 0) end
end

local function load_state()
  local parameters = redis.call('HMGET', KEYS[1], 'tables', 'shards', 'containment')
  TABLES, SHARDS = tonumber(parameters[1] or nil), tonumber(parameters[2] or nil) or 1
  HAS_ANCHORS = parameters[3] and true
  if HAS_ANCHORS and NAMES[#NAMES] ~= 'anchor.size' then
    NAMES[#NAMES + 1], NAMES[#NAMES + 2] = 'anchor.n', 'anchor.size'
  end
  stored = redis.call('HMGET', STATE, unpack(NAMES))
  for i = 1, #NAMES do stored[i] = tonumber(stored[i]) end
  local next, fill, kept, hand, urls, exacts, bands, url_size, exact_size, band_size, clock,
    checked, crawled = unpack(stored, 1, #NAMES)
  if not next then see_that_it_is_new() end
  -- All fields are in the constructor because a table that grows field by field takes far longer.
  state = {next = next or 1, fill = fill or 0, kept = kept or 0, hand = hand or 0,
    ['url.n'] = urls or 0, ['exact.n'] = exacts or 0, ['band.n'] = bands or 0,
    ['url.size'] = url_size or MIN_BUCKETS, ['exact.size'] = exact_size or MIN_BUCKETS,
    ['band.size'] = band_size or MIN_BUCKETS, clock = clock or 0,
    checked = checked or 0, crawled = crawled or 0}
  if HAS_ANCHORS then
    state['anchor.n'], state['anchor.size'] = stored[#NAMES - 1] or 0, stored[#NAMES] or MIN_BUCKETS
  end
end

local function save_state()
  local fields = {}
  for i, name in ipairs(NAMES) do
    if state[name] ~= stored[i] then
      fields[#fields + 1] = name
      fields[#fields + 1] = state[name]
    end
  end
  if #fields > 0 then redis.call('HSET', STATE, unpack(fields)) end
end

local savers = {save_state}

-- Calls act, which changes the state, and saves the state even if act fails, as where another program
-- wrote under a key of the index. Without this, numbers would be given again, and keys would be searched
-- in the bucket where they were before a split.
local function saving(act, argument)
  local is_done, result = pcall(act, argument)
  for _, save in ipairs(savers) do save() end
  if not is_done then error(result, 0) end
  return result
end

-- Lets a script that frees memory write on a full server: such a server refuses commands that need
-- memory until the script has written something. Fails if the server cannot write at all.
local function write_if_full()
  redis.call('HDEL', STATE, '')
end

-- tables -----------------------------------------------------------------------------------------

local GROUP_SIZES = {url = 'url.size', exact = 'exact.size', band = 'band.size',
  anchor = 'anchor.size'}
local ENTRY, TAG = 7, 3 -- bytes of an entry, and of the key in it
local ALL_KEYS = 256 ^ TAG * MIN_BUCKETS -- number of keys that an entry and its bucket tell apart
local FREE = string.rep('\255', ENTRY)
local HEADER = 6 -- bytes that the server needs for a string besides its content

-- Local names are faster, and these functions are called a hundred times for each page.
local byte, find_in, format, floor = string.byte, string.find, string.format, math.floor
local pack, unpack_at = struct.pack, struct.unpack

local powers = {}
local function largest_power(size) -- the largest power of two that is not above size
  if not powers[size] then
    local _, exponent = math.frexp(size)
    powers[size] = 2 ^ (exponent - 1)
  end
  return powers[size]
end

local formats = {} -- table -> format of the names of its buckets
local function bucket_name(family, bucket)
  if not formats[family] then
    formats[family] = string.gsub(PREFIX .. family, '%%', '%%%%') .. ':%d'
  end
  return format(formats[family], bucket)
end

-- Writes a bucket: entries, then free entries up to a size that allocators do not round up.
local function write_bucket(name, entries)
  if entries == '' then return redis.call('DEL', name) end
  local bytes = #entries + HEADER
  local step = math.max(16, largest_power(bytes) / 4)
  local free = math.ceil((bytes + 1) / step) * step - bytes
  redis.call('SET', name, entries .. string.rep(FREE, floor(free / ENTRY)))
end

-- The name of a key's bucket, and the key's tag: the part of the key that its entries have.
local function locate(group, family, key)
  local size = state[GROUP_SIZES[group]]
  local weight = largest_power(size)
  local bucket = key % weight
  if bucket + weight < size then bucket = key % (2 * weight) end -- the bucket has been split
  return bucket_name(family, bucket), pack('>I3', (key % ALL_KEYS - key % 8) / 8)
end

-- Numbers of the pages that a bucket has under a tag, nil if it has none.
local function pages_in(bucket, tag)
  local at, ids = find_in(bucket, tag, 1, true), nil
  while at do
    local is_entry = at % ENTRY == 1 and at + ENTRY - 1 <= #bucket -- and whole
    local id = is_entry and unpack_at('>I4', bucket, at + TAG) or MORE
    if id < MORE then -- else MORE or a free entry
      ids = ids or {}
      ids[#ids + 1] = id
    end
    at = find_in(bucket, tag, at + 1, true)
  end
  return ids
end

-- Numbers of the pages that have a key, nil if none has it; the name of the key's bucket, the key's
-- tag, and the bucket.
local function find(group, family, key)
  local name, tag = locate(group, family, (unpack_at('>I4', key)))
  local bucket = redis.call('GET', name) or ''
  return pages_in(bucket, tag), name, tag, bucket
end

-- The number of bytes in a bucket before its first free entry.
local function used(bucket)
  local at = find_in(bucket, FREE, 1, true) -- may begin within the last used entry
  return at and at - 1 + (1 - at) % ENTRY or #bucket - #bucket % ENTRY
end

-- The number of bytes in a bucket before an entry, nil if the bucket lacks the entry.
local function before(entry, bucket)
  local at = find_in(bucket, entry, 1, true)
  while at and at % ENTRY ~= 1 do at = find_in(bucket, entry, at + 1, true) end
  return at and at - 1
end

-- Adds a page to a key, given the results of find for the key.
local function add(id, ids, name, tag, bucket)
  local at
  if ids and #ids >= MAX_PAGES then -- a key of very many pages tells little: keep the latest pages
    if not before(tag .. pack('>I4', MORE), bucket) then
      add(MORE, nil, name, tag, bucket)
      bucket = redis.call('GET', name)
    end
    at = before(tag .. pack('>I4', math.min(unpack(ids))), bucket)
  else
    at = used(bucket)
  end
  local entry = tag .. pack('>I4', id)
  if at == #bucket then
    write_bucket(name, bucket .. entry)
  else
    redis.call('SETRANGE', name, format('%d', at), entry)
  end
end

-- Removes a page from a key, given the results of find for the key: the last entry of the bucket moves
-- to the removed entry's place.
local function remove(id, ids, name, tag, bucket)
  local at = ids and before(tag .. pack('>I4', id), bucket)
  if not at then return end
  local last = used(bucket) - ENTRY
  local moved = string.sub(bucket, last + 1, last + ENTRY)
  if last * 2 < #bucket then
    local entries = string.sub(bucket, 1, at) .. moved .. string.sub(bucket, at + ENTRY + 1)
    write_bucket(name, string.sub(entries, 1, last))
  else
    redis.call('SETRANGE', name, format('%d', at), moved)
    redis.call('SETRANGE', name, format('%d', last), FREE)
  end
end

local staying, moving = {}, {} -- entries; reused for all buckets, because new tables would have to grow

-- Splits a bucket of a table: moves the entries whose keys have the bit `half` set to the new bucket
-- `size`.
local function split(family, size)
  local half = largest_power(size)
  local from = bucket_name(family, size - half)
  local bucket = redis.call('GET', from) or ''
  local unit, at = half / 8, TAG -- value of the bit in its byte, and this byte's place in an entry
  while unit > 128 do unit, at = unit / 256, at - 1 end
  local stay, move = 0, 0
  for i = 0, used(bucket) - ENTRY, ENTRY do
    local entry = string.sub(bucket, i + 1, i + ENTRY)
    if floor(byte(bucket, i + at) / unit) % 2 == 0 then
      stay = stay + 1
      staying[stay] = entry
    else
      move = move + 1
      moving[move] = entry
    end
  end
  write_bucket(from, table.concat(staying, '', 1, stay))
  write_bucket(bucket_name(family, size), table.concat(moving, '', 1, move))
end

-- Counts one more entry in each table of a group; splits a bucket of each table when they are full.
local function grow(group, names)
  local n, size = state[group .. '.n'] + 1, state[group .. '.size']
  state[group .. '.n'] = n
  if n > LOAD * size then
    for _, name in ipairs(names) do split(name, size) end
    state[group .. '.size'] = size + 1
  end
end

local URLS, EXACT, ANCHORS = {'url'}, {'exact'}, {'anchor'}

local function band_names(count)
  local names = {}
  for i = 1, count do names[i] = 'band' .. (i - 1) % (TABLES or count) end
  return names
end

-- The number of entries that a page with `count` keys has in each table of the group band.
local function rounds(count)
  return TABLES and math.ceil(count / TABLES) or 1
end
