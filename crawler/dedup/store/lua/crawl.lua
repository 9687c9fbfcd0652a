-- Begins or ends a crawl, so that the index knows which records have been confirmed since its start.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  the operation: begin; end; or clock, in a shard that does not store the crawls
-- ARGV[4]  for begin and clock, the earliest time at which the crawl may begin, 0 for any; for end, its number
-- ARGV[5]  for begin, the name of the crawl, '' if it has none: a known name continues that crawl
--
-- Returns for begin the crawl's number, 1 to 65535, and its start: later than any time at which a page was seen
-- before, whatever the clocks; for clock the earliest start by this shard.
--
-- The hash "crawls" has for each crawl under way its start, under its number; and for each name, behind a "=",
-- the number and the start. Crawls that begin within some seconds of each other, while none of them has ended,
-- are workers of one crawl, and share its start.

local CRAWLS = PREFIX .. 'crawls'
local TOGETHER = 10 -- seconds
local MAX_NAMES = 100
local MOST_CRAWLS = 65535
local LATEST = 2 ^ 32 - 1

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function later_than_all(least)
  return math.min(math.max(tonumber(ARGV[2]), state.clock + 1, tonumber(least)), LATEST)
end

-- The start of the first crawl under way that began a moment ago, otherwise `start`. Forgets crawls that began
-- earlier, and the oldest name if there are too many.
local function begun_together(start)
  local first, names, oldest, oldest_start = start, 0, nil, math.huge
  local entries = redis.call('HGETALL', CRAWLS)
  for i = 1, #entries, 2 do
    local began = tonumber(string.match(entries[i + 1], '%d+$'))
    if string.sub(entries[i], 1, 1) == '=' then
      names = names + 1
      if began < oldest_start then oldest, oldest_start = entries[i], began end
    elseif began + TOGETHER >= start then
      first = math.min(first, began)
    else
      redis.call('HDEL', CRAWLS, entries[i])
    end
  end
  if names >= MAX_NAMES then redis.call('HDEL', CRAWLS, oldest) end
  return first
end

local function begin(least, name)
  state.crawled = math.max(state.crawled, tonumber(ARGV[2]))
  local known = name ~= '' and redis.call('HGET', CRAWLS, '=' .. name)
  if known then
    local number, start = string.match(known, '^(%d+) (%d+)$')
    return {tonumber(number), tonumber(start)}
  end
  local start = begun_together(later_than_all(least))
  state.clock = math.max(state.clock, start)
  local number = (redis.call('HINCRBY', STATE, 'crawls', '1') - 1) % MOST_CRAWLS + 1
  local field, value = format('%d', number), format('%d', start)
  if name ~= '' then field, value = '=' .. name, field .. ' ' .. value end
  redis.call('HSET', CRAWLS, field, value)
  return {number, start}
end

return saving(function()
  if ARGV[3] == 'end' then return redis.call('HDEL', CRAWLS, ARGV[4]) end
  if ARGV[3] == 'begin' then return begin(ARGV[4], ARGV[5]) end
  local start = later_than_all(ARGV[4])
  if ARGV[4] ~= '0' then state.clock = math.max(state.clock, tonumber(ARGV[4])) end
  return start
end)
