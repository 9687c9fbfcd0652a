-- How the index lies in the server: what every script of this folder shares.
--
-- This text stands in front of each script, so its names are the scripts' own. KEYS[1] is the
-- key of the parameters, "{namespace}:params"; all other keys begin with the same "{namespace}:"
-- and so lie in the same slot of a cluster.
--
-- Tables. A table maps a 4-byte key to the numbers of the pages that have it: one table for URLs,
-- one for exact hashes, one for each band. It is a linear hash table (Litwin, 1980) over small
-- hashes of the server: bucket B of table T is the hash "T:B", its field the first three bytes of
-- the key (the last one follows from the bucket's number, as there are never fewer than 256
-- buckets), its value the page's number, or several with commas between them. Buckets are split
-- one at a time as pages come, so that each stays small enough for the server's compact encoding
-- at any size of the index.
--
-- Records. Page N has the number of its record: 16 pages share the hash "page:<N / 16>", in which
-- the field (N % 16) * 16 + part holds one part of the record.

local PREFIX = string.sub(KEYS[1], 1, -7)
local STATE = PREFIX .. 'state'
local MIN_BUCKETS = 256
local LOAD = 64 -- mean entries in a bucket; the fullest holds about 2.5 times as many
local MAX_VALUE = 64 -- bytes of a value in the server's compact encoding
local META, URL, SKETCH = 0, 1, 2 -- parts of a record; SKETCH and those after it hold the band
-- keys and then the odd sketch, MAX_VALUE bytes in each
local KEPT, COPY = '>c1c1I4I4c4I4c16BI2', '>c1c1I4I4c4I4c16BI2I4I2I2'

local state -- next: number of the next page; kept: pages that stand for themselves;
-- <group>.n, <group>.size: entries and buckets of the tables of a group

local function load_state()
  local names = {'next', 'kept', 'url.n', 'url.size', 'exact.n', 'exact.size',
    'band.n', 'band.size'}
  local values = redis.call('HMGET', STATE, unpack(names))
  state = {}
  for i, name in ipairs(names) do
    local default = string.find(name, 'size', 1, true) and MIN_BUCKETS or 0
    state[name] = tonumber(values[i]) or (name == 'next' and 1 or default)
  end
end

local function save_state()
  local pairs_ = {}
  for name, value in pairs(state) do
    pairs_[#pairs_ + 1] = name
    pairs_[#pairs_ + 1] = value
  end
  redis.call('HSET', STATE, unpack(pairs_))
end

-- tables -----------------------------------------------------------------------------------------

local function bucket_of(number, size)
  local _, exponent = math.frexp(size)
  local half = 2 ^ (exponent - 1) -- the largest power of two up to size
  local bucket = number % (2 * half)
  if bucket >= size then bucket = number % half end
  return bucket
end

-- The numbers of the pages that have a key, nil if none has, and the hash and field they stand in.
local function find(group, name, key)
  local a, b, c, d = string.byte(key, 1, 4)
  local bucket = bucket_of(((a * 256 + b) * 256 + c) * 256 + d, state[group .. '.size'])
  local hash, field = string.format('%s%s:%d', PREFIX, name, bucket), string.sub(key, 1, 3)
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

local function split(name, size)
  local _, exponent = math.frexp(size)
  local half = 2 ^ (exponent - 1)
  local old = size - half
  local entries = redis.call('HGETALL', PREFIX .. name .. ':' .. old)
  local fields, moved = {}, {}
  for i = 1, #entries, 2 do
    local a, b, c = string.byte(entries[i], 1, 3)
    local number = ((a * 256 + b) * 256 + c) * 256 + old % 256
    if number % (2 * half) == size then
      fields[#fields + 1] = entries[i]
      moved[#moved + 1] = entries[i]
      moved[#moved + 1] = entries[i + 1]
    end
  end
  if #fields > 0 then
    redis.call('HDEL', PREFIX .. name .. ':' .. old, unpack(fields))
    redis.call('HSET', PREFIX .. name .. ':' .. size, unpack(moved))
  end
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

local function band_names(keys)
  local names = {}
  for i = 1, #keys / 4 do names[i] = 'band' .. (i - 1) end
  return names
end

-- records ----------------------------------------------------------------------------------------

local function record(id)
  return string.format('%spage:%d', PREFIX, math.floor(id / 16)), id % 16 * 16
end

local function field_of(base, part)
  return string.format('%d', base + part)
end

local function read_meta(id)
  local hash, base = record(id)
  local packed = redis.call('HGET', hash, field_of(base, META))
  if not packed then return nil end
  local meta = {id = id}
  meta.standing, meta.last, meta.first_seen, meta.last_seen, meta.token, meta.words, meta.exact,
    meta.level, meta.sampled, meta.rep, meta.odd_bits, meta.rep_sampled =
    struct.unpack(#packed > struct.size(KEPT) and COPY or KEPT, packed .. string.rep('\0', 8))
  if #packed <= struct.size(KEPT) then meta.rep, meta.odd_bits, meta.rep_sampled = nil, nil, nil end
  return meta
end

local function write_meta(meta)
  local hash, base = record(meta.id)
  local packed
  if meta.rep then
    packed = struct.pack(COPY, meta.standing, meta.last, meta.first_seen, meta.last_seen,
      meta.token, meta.words, meta.exact, meta.level, meta.sampled, meta.rep, meta.odd_bits,
      meta.rep_sampled)
  else
    packed = struct.pack(KEPT, meta.standing, meta.last, meta.first_seen, meta.last_seen,
      meta.token, meta.words, meta.exact, meta.level, meta.sampled)
  end
  redis.call('HSET', hash, field_of(base, META), packed)
end

local function read_url(id)
  local hash, base = record(id)
  return redis.call('HGET', hash, field_of(base, URL)) or redis.call('GET', PREFIX .. 'long:' .. id) or ''
end

local function write_url(id, url)
  if #url > MAX_VALUE then
    redis.call('SET', PREFIX .. 'long:' .. id, url)
  else
    local hash, base = record(id)
    redis.call('HSET', hash, field_of(base, URL), url)
  end
end

local function find_url(url, key)
  local ids = find('url', 'url', key)
  if not ids then return nil end
  for id in string.gmatch(ids, '%d+') do
    id = tonumber(id)
    if read_url(id) == url then return id end
  end
  return nil
end

local function read_sketch(id)
  local hash, base = record(id)
  local fields = {}
  for part = SKETCH, 15 do fields[#fields + 1] = field_of(base, part) end
  local parts, whole = redis.call('HMGET', hash, unpack(fields)), {}
  for i = 1, #parts do whole[i] = parts[i] or '' end
  return table.concat(whole)
end

local function write_sketch(id, sketch)
  local hash, base = record(id)
  local fields = {}
  for at = 1, #sketch, MAX_VALUE do
    fields[#fields + 1] = field_of(base, SKETCH + #fields / 2)
    fields[#fields + 1] = string.sub(sketch, at, at + MAX_VALUE - 1)
  end
  redis.call('HSET', hash, unpack(fields))
end

-- Takes a page out of every table and its record with it; odd_size is the bytes of an odd sketch.
local function release(meta, url_key, odd_size)
  local id = meta.id
  local hash, base = record(id)
  remove(id, find('url', 'url', url_key))
  state['url.n'] = state['url.n'] - 1
  if not meta.rep then state.kept = state.kept - 1 end
  if not meta.rep and meta.words > 0 then
    remove(id, find('exact', 'exact', string.sub(meta.exact, 1, 4)))
    state['exact.n'] = state['exact.n'] - 1
    local keys = string.sub(read_sketch(id), 1, -odd_size - 1)
    if #keys > 0 then
      for i, name in ipairs(band_names(keys)) do
        remove(id, find('band', name, string.sub(keys, i * 4 - 3, i * 4)))
      end
      state['band.n'] = state['band.n'] - 1
    end
  end
  local parts = {}
  for part = META, 15 do parts[#parts + 1] = field_of(base, part) end
  redis.call('HDEL', hash, unpack(parts))
  redis.call('DEL', PREFIX .. 'long:' .. id)
end
