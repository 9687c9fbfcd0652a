-- How the index lies in the server: its state and its tables. records.lua has the rest.
--
-- This text stands in front of the scripts, so its names are the scripts' own. KEYS[1] is the
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

local PREFIX = string.sub(KEYS[1], 1, -7)
local STATE = PREFIX .. 'state'
local OVERRIDES = PREFIX .. 'overrides' -- hash: URL -> keep or drop, what somebody wants of it
local AGAIN = 'again' -- there: somebody took that back, and the page has to be decided anew
local MIN_BUCKETS = 16
local LOAD = 48 -- mean entries in a bucket; the fullest holds about three times as many
local MAX_VALUE = 64 -- bytes of the numbers under a key, in the server's compact encoding

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
