-- What is known of the URLs of a site: its rules, and what people have said of them.
--
-- KEYS[1]  "{namespace}:params", in the shard where the site is at home
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  the site
-- ARGV[4]  name of a feature of its URLs; nothing to read alone
-- ARGV[5]  JSON of what is known of the feature, '' for nothing more
-- ARGV[6]  1 if a person says so: what a person has said no crawl changes
--
-- Returns the JSON of the site, an object by feature, as it was before; '' if there is none.
--
-- The hash "rules" has for each site such an object.

local RULES = PREFIX .. 'rules'
local MAX_RULES = 64 -- of a site
local MAX_BYTES = 16384 -- of a site
local MAX_SITES = 10000 -- then one is forgotten, which a crawl learns anew

local site, name = ARGV[3], ARGV[4]
local old = redis.call('HGET', RULES, site) or ''
if not name then return old end

redis.call('HINCRBY', STATE, 'exchanges', '1') -- so copies and exports see that something has changed
local rules, number = {}, 0
if old ~= '' then
  local read, found = pcall(cjson.decode, old)
  if read and type(found) == 'table' then rules = found end
end
for _ in pairs(rules) do number = number + 1 end
local known = rules[name]
if known and ARGV[6] ~= '1' and (known.state == 'added' or known.state == 'forbidden') then return old end
if not known and number >= MAX_RULES then return old end
rules[name] = ARGV[5] ~= '' and cjson.decode(ARGV[5]) or nil
if next(rules) == nil then
  redis.call('HDEL', RULES, site)
  return old
end
local new = cjson.encode(rules)
if #new > MAX_BYTES then return old end
if old == '' and redis.call('HLEN', RULES) >= MAX_SITES then
  redis.call('HDEL', RULES, redis.call('HRANDFIELD', RULES))
end
redis.call('HSET', RULES, site, new)
return old
