-- Gives an index of an earlier format, whose records are valid in this format, the parameters of this
-- format: clients that opened it with an earlier version are refused from now on.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  the earlier format
-- ARGV     from the second on names and values of the parameters
--
-- Returns names and values of the index's parameters afterwards; they are unchanged if the index has
-- another format by now, or is unfinished.

local format, unfinished = unpack(redis.call('HMGET', KEYS[1], 'format', 'unfinished'))
if format == ARGV[1] and not unfinished then redis.call('HSET', KEYS[1], unpack(ARGV, 2)) end
return redis.call('HGETALL', KEYS[1])
