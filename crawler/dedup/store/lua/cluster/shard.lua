-- Shared by all scripts for a shard of an index that is spread over a cluster. This text is put behind
-- layout.lua. docs/research/cluster-protocol.md explains the protocol and why it is correct.
--
-- KEYS[1]  the shard's "{tag}:params"
-- KEYS[2]  "{tag}:guard", which never exists: see keys.py
-- ARGV[1]  digest of the parameters; another one in the shard, or none, is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  pages last seen before this time, in seconds since 1970, have expired
-- ARGV[4]  milliseconds that an attempt may take before others may end it
-- ARGV[5]  bytes of an odd sketch
-- then one argument for each thing to do, numbers with the highest byte first; one reply for each
--
-- A shard has the tables url, exact, band and anchor of layout.lua, and the records of the pages whose URL
-- belongs to it. Pages have a local number within the shard, in its records, its table of URLs and its
-- attempts, and a global number, in the tables exact, band and anchor and in claims. There are also:
--   attempts  hash: local number -> a page that is being checked and not decided; "u" and the table
--             key of a URL -> local number of the only attempt at that URL
--   claims    hash: arguments of claim.lua with a page that is being checked, or was a moment ago;
--             each under its first four bytes
--   buried    hash: local number of a page that is no longer kept -> what has to be removed from other
--             shards, see keep_no_more in attempts.lua
-- They are small and soon empty again, even if workers die.

local CLAIMS, BURIED = PREFIX .. 'claims', PREFIX .. 'buried'
local FIRST = 6 -- index of the first thing to do in ARGV
local KEY = 5 -- bytes of a claimed key

local function each(act)
  local replies = {}
  for i = FIRST, #ARGV do replies[#replies + 1] = act(ARGV[i]) end
  return replies
end

-- The group, and table, of the claimed key at this byte.
local function group_of(claims, at)
  local letter = byte(claims, at)
  return letter == 101 and 'exact' or letter == 97 and 'anchor' or 'band' -- an e, an a
end

-- Returns a function that tells whether a page may be among the claims.
local function under_way()
  local claims = table.concat(redis.call('HGETALL', CLAIMS))
  return function(id) return find_in(claims, pack('>I4', id), 1, true) end
end
