-- Attempts, the pages of a shard that are being checked; and the removal of pages. This text is put behind
-- layout.lua, shard.lua, records.lua, stored_pages.lua and pages.lua.

local ATTEMPTS = PREFIX .. 'attempts'
local oldest, lease, odd_size = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local ATTEMPT = '>I8c8I4BI4' -- deadline, born, page that it replaces, flags, first seen
-- Flags. ANEW: an override of the URL was removed; RENEWED: more is known about the text now than its record
-- says.
local SAME_TEXT, ANEW, RENEWED = 1, 2, 4
local LONGEST = 10 -- leases that another worker's attempt may have left: its leases may be longer
local OWN = struct.size(ATTEMPT) -- bytes in front of the packed page

-- The server's own clock, so that the workers' clocks need not agree.
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Whether others may end an attempt: its time has run out, or its deadline is impossibly late, as after the
-- clock was set back, or a replica whose clock is behind was promoted.
local function is_over(attempt, clock)
  return attempt.deadline <= clock or attempt.deadline > clock + LONGEST * lease
end

local function url_field(url_key)
  return 'u' .. url_key
end

-- The attempt with this number, nil if it was decided or given up.
local function read_attempt(id)
  local packed = redis.call('HGET', ATTEMPTS, string.format('%d', id))
  if not packed then return nil end
  local attempt = {id = id, page = read_page(string.sub(packed, OWN + 1))}
  local flags
  attempt.deadline, attempt.born, attempt.replaces, flags, attempt.first_seen =
    struct.unpack(ATTEMPT, packed)
  attempt.same_text, attempt.anew, attempt.renewed =
    flags % ANEW == SAME_TEXT, flags % RENEWED >= ANEW, flags >= RENEWED
  return attempt
end

local function attempt_at(url_key)
  local id = redis.call('HGET', ATTEMPTS, url_field(url_key))
  return id and read_attempt(tonumber(id))
end

-- Ends an attempt, decided or not. Its claims are left for later cleaning.
local function end_attempt(attempt)
  redis.call('HDEL', ATTEMPTS, string.format('%d', attempt.id), url_field(attempt.page.url_key))
end

-- Notes that a page is no longer kept. Returns what has to be removed from other shards, '' for nothing:
-- exact hash (12 bytes); in an index with anchors, bytes of their table keys (2) and these keys; band keys.
local function keep_no_more(meta)
  state.kept = state.kept - 1
  if meta.words == 0 then return '' end
  local rest = meta.exact
  if HAS_ANCHORS then
    local keys = {}
    each_anchor(meta.anchors, function(key) keys[#keys + 1] = key end)
    rest = rest .. pack('>I2', #keys * 4) .. table.concat(keys)
  end
  rest = rest .. string.sub(meta.sketch, 1, -odd_size - 1)
  redis.call('HSET', BURIED, string.format('%d', meta.id), rest)
  return rest
end

-- Removes a page's record and URL. Returns what has to be removed from other shards, '' for nothing.
local function bury(meta)
  local rest = meta.rep and '' or keep_no_more(meta)
  remove(meta.id, find('url', 'url', meta.url_key))
  state['url.n'] = state['url.n'] - 1
  erase(meta.id)
  return rest
end
