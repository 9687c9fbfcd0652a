-- Begins or ends a crawl: so an index knows which records somebody has confirmed since.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  what is done: begin; end; or clock, in a shard whose crawls others note
-- ARGV[4]  of begin and clock the earliest time at which the crawl may begin, 0 for any; of end the number
-- ARGV[5]  of begin the name of the crawl, '' if it has none: who gives a name that is known goes on with it
--
-- Returns of begin the crawl's number, 1 to 65535, and the time from which on pages are its own: later than any
-- at which a page was seen before, whatever the clocks; of clock the time from which on the shard's are.
--
-- The hash "crawls" has for each crawl under way, by its number, when it began; and for each name, behind a
-- "=", its number and when it began. Crawls that begin within some seconds, while none of them has ended, are
-- workers of one, and have one beginning.

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

-- When the crawls began that began a moment ago and are under way, the first of them; forgets those that
-- began before, and the oldest names.
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
