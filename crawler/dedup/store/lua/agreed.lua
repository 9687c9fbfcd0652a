-- Refuses callers with other parameters than the index has now. This text is put in front of
-- layout.lua, so that nothing is done before.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS

if redis.call('HGET', KEYS[1], 'digest') ~= ARGV[1] then
  return redis.error_reply('PARAMETERS the index is gone or has other parameters')
end

