-- Begins or ends a crawl, so that the index knows which records have been confirmed since its start, and which
-- were last seen by a crawl that has not ended.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  the operation: begin; resume; end; kill; or clock, in a shard that does not store the crawls
-- ARGV[4]  for begin and clock, the earliest time at which the crawl may begin, 0 for any; otherwise its number
-- ARGV[5]  for begin and resume, the name of the crawl, '' if it has none: to begin a known one continues it
-- ARGV[6]  for resume and kill, the start of the crawl
-- ARGV[7]  for begin, resume and end, a name of this entry of a process, 8 characters: a retry is not counted;
--          missing or '' for callers of earlier versions
--
-- Returns for begin and resume the crawl's number, 1 to 65533, its start: later than any time at which a page
-- was seen before, whatever the clocks; and the numbers of the crawls that were killed or began before it and
-- have not ended, 2 bytes each. For clock, the earliest start by this shard.
--
-- The hash "crawls" has for each name, behind a "=", the number and the start of its crawl; and for each crawl the
-- number of its processes that have not ended, their entries, and its start: under its number, behind a "@" if it
-- has a name, and behind a "!" if it was killed. A crawl that begins within some seconds of one that has not ended
-- passes for a worker of the same crawl, and shares its start.

local CRAWLS = PREFIX .. 'crawls'
local TOGETHER = 10 -- seconds
local MOST = 100 -- of names, and of crawls
local MOST_CRAWLS = 65533 -- 65534 is that of all that could not be announced
local LATEST = 2 ^ 32 - 1
local ENTRY = ARGV[7] and ARGV[7] ~= '' and ' ' .. ARGV[7]

if ARGV[3] == 'end' then write_if_full() end -- or what the crawl has kept would pass for never exported
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function later_than_all(least)
  return math.min(math.max(tonumber(ARGV[2]), state.clock + 1, tonumber(least)), LATEST)
end

-- Calls visit with each field's letter ('=', '@', '!' or ''), its name or number, the start, and the field's value.
local function each_crawl(visit)
  local entries = redis.call('HGETALL', CRAWLS)
  for i = 1, #entries, 2 do
    local kind, name = string.match(entries[i], '^([=@!]?)(.*)$')
    visit(kind, name, tonumber(string.match(entries[i + 1], '%d+$')), entries[i + 1])
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

-- Stores an entry; forgets the name or the crawl that began first if there are too many.
local function note_crawl(kind, name, number, start, entered)
  local count, oldest, earliest = 0, nil, math.huge
  each_crawl(function(other, its_name, began)
    if (other == '=') ~= (kind == '=') then return end
    count = count + 1
    if began < earliest then oldest, earliest = other .. its_name, began end
  end)
  local is_new = redis.call('HSET', CRAWLS, kind .. name, format('%d%s %d', number, entered or '', start)) == 1
  if is_new and count >= MOST then redis.call('HDEL', CRAWLS, oldest) end
end

-- The number of a crawl's processes, and their entries.
local function processes(field)
  local value = redis.call('HGET', CRAWLS, field) or '0 0'
  local count, entered = string.match(value, '^(%d+)(.*) %d+$')
  return tonumber(count or 1), entered or ''
end

local function has_entered(value)
  return ENTRY and string.find(value, ENTRY, 1, true)
end

-- Notes a process of a crawl, and returns the answer to it.
local function enter(number, start, name)
  if name == '' then
    note_crawl('', number, 1, start, ENTRY or '')
  else
    local count, entered = processes('@' .. number)
    if not has_entered(entered) then note_crawl('@', number, count + 1, start, entered .. (ENTRY or '')) end
  end
  local unended = {}
  each_crawl(function(kind, other, began)
    if kind == '!' or kind ~= '=' and began < tonumber(start) then
      unended[#unended + 1] = struct.pack('>I2', tonumber(other))
    end
  end)
  return {tonumber(number), tonumber(start), table.concat(unended)}
end

-- Notes that a process of a crawl is no more.
local function leave(number)
  local field = redis.call('HEXISTS', CRAWLS, number) == 1 and number or '@' .. number
  local left, entered = processes(field)
  local _, known = string.gsub(entered, ' ', '') -- fewer if one of an earlier version has entered since
  if ENTRY and known >= left and not has_entered(entered) then return end -- it has left before
  if left > 1 then
    local start = string.match(redis.call('HGET', CRAWLS, field), '%d+$')
    note_crawl('', field, left - 1, start, ENTRY and string.gsub(entered, ENTRY, '', 1) or entered)
  else
    redis.call('HDEL', CRAWLS, field)
  end
end

local function kill(number, start)
  leave(number)
  note_crawl('!', number, 0, start)
end

-- A number that no remembered crawl has: a new index may be told of one that an earlier index numbered.
local function new_number()
  local number, is_known
  repeat
    number = format('%d', (redis.call('HINCRBY', STATE, 'crawls', '1') - 1) % MOST_CRAWLS + 1)
    is_known = false
    each_crawl(function(kind, other) is_known = is_known or kind ~= '=' and other == number end)
  until not is_known
  return number
end

-- The number and start of the unnamed crawl that an earlier call has begun, whose answer was lost; nil for none.
local function begun_before()
  local own, start
  each_crawl(function(kind, number, began, value)
    if kind == '' and has_entered(value) then own, start = number, began end
  end)
  return own, start
end

local function begin(least, name)
  state.crawled = math.max(state.crawled, tonumber(ARGV[2]))
  local known = name ~= '' and redis.call('HGET', CRAWLS, '=' .. name)
  if known then
    local number, start = string.match(known, '^(%d+) (%d+)$')
    return enter(number, start, name)
  end
  local own, its_start = begun_before()
  if own and name == '' then return enter(own, its_start, name) end
  local start = begun_together(later_than_all(least))
  state.clock = math.max(state.clock, start)
  local number = new_number()
  if name ~= '' then note_crawl('=', name, number, start) end
  return enter(number, start, name)
end

return saving(function()
  if ARGV[3] == 'end' then return leave(ARGV[4]) end
  if ARGV[3] == 'begin' then return begin(ARGV[4], ARGV[5]) end
  if ARGV[3] == 'resume' then return enter(ARGV[4], ARGV[6], ARGV[5]) end
  if ARGV[3] == 'kill' then return kill(ARGV[4], ARGV[6]) end
  local start = later_than_all(ARGV[4])
  if ARGV[4] ~= '0' then state.clock = math.max(state.clock, tonumber(ARGV[4])) end
  return start
end)
