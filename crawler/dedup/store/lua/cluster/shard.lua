-- A shard of an index that is spread over a cluster: what all of its scripts share. This text stands
-- behind layout.lua. docs/research/cluster-protocol.md tells the protocol and why it holds.
--
-- KEYS[1]  the shard's "{tag}:params"
-- KEYS[2]  "{tag}:guard", which is never there: see keys.py
-- ARGV[1]  digest of the parameters; another one in the shard, or none, is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  pages last seen before this time, in seconds since 1970, have expired
-- ARGV[4]  milliseconds that an attempt may take before others may end it
-- ARGV[5]  bytes of an odd sketch
-- then one argument for each thing to do, numbers with the highest byte first; one reply for each
--
-- A shard has the tables url, exact, band and anchor of layout.lua, and the records of the pages whose URL
-- belongs to it. Pages have a local number within the shard, which is what its records, its table
-- of URLs and its attempts speak of, and a global one, which is what exact, band, anchor and claims
-- speak of. Besides there are:
--   attempts  hash: local number -> a page that is being checked, not decided; "u" and the table
--             key of a URL -> local number of the attempt at that URL, of which there is only one
--   claims    hash: arguments of claim.lua of which some page is being checked, or was a moment
--             ago; each under its first four bytes
--   buried    hash: local number -> what is to be taken out of other shards of a page that is kept no
--             more, see keep_no_more in attempts.lua
-- They are small and soon empty again, whoever works or dies.

local CLAIMS, BURIED = PREFIX .. 'claims', PREFIX .. 'buried'
local FIRST = 6 -- argument with a thing to do
local KEY = 5 -- bytes of a claimed key

local function each(act)
  local replies = {}
  for i = FIRST, #ARGV do replies[#replies + 1] = act(ARGV[i]) end
  return replies
end

-- The group, and table, of a claimed key that stands at this byte.
local function group_of(claims, at)
  local letter = byte(claims, at)
  return letter == 101 and 'exact' or letter == 97 and 'anchor' or 'band' -- an e, an a
end

-- Tells whether a page stands among the claims, or perhaps does.
local function under_way()
  local claims = table.concat(redis.call('HGETALL', CLAIMS))
  return function(id) return find_in(claims, pack('>I4', id), 1, true) end
end
