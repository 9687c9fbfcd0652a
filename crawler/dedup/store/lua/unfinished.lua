-- Marks an index that is being deleted or renamed: clients that open it are refused, and clients that have
-- it open get an error.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  what is being done: clear or rename; '': the renaming has ended, which changes nothing if the
--          index was not being renamed
--
-- Returns nothing. The first write of clear needs no memory, so that a full server can do it.

local doing = ARGV[1]
local digest, before = unpack(redis.call('HMGET', KEYS[1], 'digest', 'unfinished'))
if doing == '' then
  if before ~= 'rename' then return end
  redis.call('HDEL', KEYS[1], 'unfinished')
  redis.call('HSET', KEYS[1], 'digest', string.sub(digest, 2))
elseif doing == 'rename' then
  if before then return end -- the index is already being deleted or renamed
  redis.call('HSET', KEYS[1], 'digest', '-' .. digest, 'unfinished', doing)
else
  redis.call('HDEL', KEYS[1], 'digest')
  redis.call('HSET', KEYS[1], 'digest', '-', 'unfinished', doing)
end
