-- Begins or ends a crawl, so that the index knows which records have been confirmed since its start, and which
-- were last seen by a crawl that has not ended.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  the operation: begin; resume; end; kill; or clock, in a shard that does not store the crawls
-- ARGV[4]  for begin and clock, the earliest time at which the crawl may begin, 0 for any; otherwise its number
-- ARGV[5]  for begin, the name of the crawl, '' if it has none: a known name continues that crawl; for resume
--          and kill, the start of the crawl
--
-- Returns for begin and resume the crawl's number, 1 to 65533, its start: later than any time at which a page
-- was seen before, whatever the clocks; and the numbers of the crawls that were killed or began before it and
-- have not ended, 2 bytes each. For clock, the earliest start by this shard.
--
-- The hash "crawls" has for each crawl that has not ended its start, under its number; for each that is known
-- to have been killed the same, behind a "!"; and for each name, behind a "=", the number and the start. Crawls
-- that begin within some seconds of each other, while none of them has ended, are workers of one crawl, and
-- share its start.

local CRAWLS = PREFIX .. 'crawls'
local TOGETHER = 10 -- seconds
local MOST = 100 -- of names, and of crawls that have not ended or were killed
local MOST_CRAWLS = 65533 -- 65534 is in pages.lua, and CONTESTED begins with 65535
local LATEST = 2 ^ 32 - 1

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function later_than_all(least)
  return math.min(math.max(tonumber(ARGV[2]), state.clock + 1, tonumber(least)), LATEST)
end

-- Calls visit with each crawl's kind ('=', '!' or ''), name or number, and start.
local function each_crawl(visit)
  local entries = redis.call('HGETALL', CRAWLS)
  for i = 1, #entries, 2 do
    local kind, name = string.match(entries[i], '^([=!]?)(.*)$')
    visit(kind, name, tonumber(string.match(entries[i + 1], '%d+$')))
  end
end

-- The start of the first crawl under way that began a moment ago, otherwise `start`.
local function begun_together(start)
  local first = start
  each_crawl(function(kind, _, began)
    if kind == '' and began + TOGETHER >= start then first = math.min(first, began) end
  end)
  return first
end

-- Stores a crawl; forgets the one of this sort that began first if there are too many.
local function note_crawl(kind, name, value)
  local count, oldest, earliest = 0, nil, math.huge
  each_crawl(function(other, its_name, began)
    if (other == '=') ~= (kind == '=') then return end
    count = count + 1
    if began < earliest then oldest, earliest = other .. its_name, began end
  end)
  if count >= MOST then redis.call('HDEL', CRAWLS, oldest) end
  redis.call('HSET', CRAWLS, kind .. name, value)
end

-- The answer to a crawl that begins or goes on.
local function tell(number, start)
  local unended = {}
  each_crawl(function(kind, name, began)
    if kind == '!' or kind == '' and began < start then
      unended[#unended + 1] = struct.pack('>I2', tonumber(name))
    end
  end)
  return {number, start, table.concat(unended)}
end

local function begin(least, name)
  state.crawled = math.max(state.crawled, tonumber(ARGV[2]))
  local known = name ~= '' and redis.call('HGET', CRAWLS, '=' .. name)
  if known then
    local number, start = string.match(known, '^(%d+) (%d+)$')
    return tell(tonumber(number), tonumber(start))
  end
  local start = begun_together(later_than_all(least))
  state.clock = math.max(state.clock, start)
  local number = (redis.call('HINCRBY', STATE, 'crawls', '1') - 1) % MOST_CRAWLS + 1
  local digits, began = format('%d', number), format('%d', start)
  if name ~= '' then
    note_crawl('=', name, digits .. ' ' .. began)
  else
    note_crawl('', digits, began)
  end
  return tell(number, start)
end

local function resume(number, start)
  note_crawl('', number, start)
  return tell(tonumber(number), tonumber(start))
end

local function kill(number, start)
  redis.call('HDEL', CRAWLS, number)
  note_crawl('!', number, start)
end

return saving(function()
  if ARGV[3] == 'end' then return redis.call('HDEL', CRAWLS, ARGV[4]) end
  if ARGV[3] == 'begin' then return begin(ARGV[4], ARGV[5]) end
  if ARGV[3] == 'resume' then return resume(ARGV[4], ARGV[5]) end
  if ARGV[3] == 'kill' then return kill(ARGV[4], ARGV[5]) end
  local start = later_than_all(ARGV[4])
  if ARGV[4] ~= '0' then state.clock = math.max(state.clock, tonumber(ARGV[4])) end
  return start
end)
