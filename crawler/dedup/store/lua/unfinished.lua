-- Marks an index that is being deleted: whoever opens it is refused, whoever has it open is told.
--
-- KEYS[1]  "{namespace}:params"
--
-- Returns nothing. Its first write needs no memory, so that a full server can do it.

redis.call('HDEL', KEYS[1], 'digest')
redis.call('HSET', KEYS[1], 'digest', '-', 'unfinished', 'clear')
