-- An index that is spread over a cluster: what the scripts of its shards share. This text stands
-- behind layout.lua, records.lua and pages.lua. docs/cluster.md tells the protocol and why it holds.
--
-- KEYS[1]  the shard's "{tag}:params"
-- KEYS[2]  "{tag}:guard", which is never there: see keys.py
-- ARGV[1]  digest of the parameters; another one in the shard is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  pages last seen before this time, in seconds since 1970, have expired
-- ARGV[4]  milliseconds that an attempt may take before others may end it
-- ARGV[5]  bytes of an odd sketch
-- then one argument for each thing to do, numbers with the highest byte first; one reply for each
--
-- A shard has the tables url, exact and band of layout.lua, and the records of the pages whose URL
-- belongs to it. Pages have a local number within the shard, which is what its records, its table
-- of URLs and its attempts speak of, and a global one, which is what exact, band and claims speak
-- of. Besides there are:
--   attempts  hash: local number -> a page that is being checked, not decided; "u" and the table
--             key of a URL -> local number of the attempt at that URL, of which there is only one
--   claims    hash: letter of a table (e, b) and table key -> global numbers of those that want to
--             be found under this key, in the order in which they came, with commas between
--   buried    hash: local number -> exact hash and band keys of a page that is kept no more and
--             whose table entries in other shards are still there
-- They are small and soon empty again, whoever works or dies.

if redis.call('HGET', KEYS[1], 'digest') ~= ARGV[1] then
  return redis.error_reply('PARAMETERS the index is gone or has other parameters')
end

local ATTEMPTS, CLAIMS, BURIED = PREFIX .. 'attempts', PREFIX .. 'claims', PREFIX .. 'buried'
local now, oldest = tonumber(ARGV[2]), tonumber(ARGV[3])
local lease, odd_size = tonumber(ARGV[4]), tonumber(ARGV[5])
local FIRST = 6 -- argument with a thing to do
local ATTEMPT = '>I8c8I4BI4' -- deadline, born, page that it replaces, flags, first seen
local SAME_TEXT, ANEW = 1, 2 -- flags; ANEW: somebody took back what was wanted of the URL
local OWN = struct.size(ATTEMPT) -- bytes in front of the packed page

local function each(act)
  local replies = {}
  for i = FIRST, #ARGV do replies[#replies + 1] = act(ARGV[i]) end
  return replies
end

-- The server's own clock, so that the workers' clocks need not agree.
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function url_field(url_key)
  return 'u' .. url_key
end

-- What is known of an attempt, nil if it was decided or given up.
local function read_attempt(id)
  local packed = redis.call('HGET', ATTEMPTS, string.format('%d', id))
  if not packed then return nil end
  local attempt = {id = id, page = read_page(string.sub(packed, OWN + 1))}
  local flags
  attempt.deadline, attempt.born, attempt.replaces, flags, attempt.first_seen =
    struct.unpack(ATTEMPT, packed)
  attempt.same_text, attempt.anew = flags % ANEW == SAME_TEXT, flags >= ANEW
  return attempt
end

local function attempt_at(url_key)
  local id = redis.call('HGET', ATTEMPTS, url_field(url_key))
  return id and read_attempt(tonumber(id))
end

-- Ends an attempt, decided or not. Its claims are left to whoever finds them.
local function end_attempt(attempt)
  redis.call('HDEL', ATTEMPTS, string.format('%d', attempt.id), url_field(attempt.page.url_key))
end

-- Notes that a page is kept no more; says what has to be taken out of other shards, '' if nothing.
local function keep_no_more(meta)
  state.kept = state.kept - 1
  if meta.words == 0 then return '' end
  local rest = meta.exact .. string.sub(meta.sketch, 1, -odd_size - 1)
  redis.call('HSET', BURIED, string.format('%d', meta.id), rest)
  return rest
end

-- Takes a page's record and URL out; says what has to be taken out of other shards, '' if nothing.
local function bury(meta)
  local rest = meta.rep and '' or keep_no_more(meta)
  remove(meta.id, find('url', 'url', meta.url_key))
  state['url.n'] = state['url.n'] - 1
  erase(meta.id)
  return rest
end
