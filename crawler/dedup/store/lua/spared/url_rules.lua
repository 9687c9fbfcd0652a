-- Reads and changes the URL rules of a site: learnt ones, and those that people have decided.
--
-- KEYS[1]  "{namespace}:params", in the shard where the site is at home
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  the site
-- ARGV[4]  name of a feature of its URLs; missing to read only
-- ARGV[5]  JSON of the rule for this feature, '' to remove it
-- ARGV[6]  1 for a person's decision, which no crawl changes
--
-- Returns the JSON of the site's rules before the change, an object by feature; '' if there are none.
--
-- The hash "rules" has such an object for each site.

local RULES = PREFIX .. 'rules'
local MAX_RULES = 64 -- of a site
local MAX_BYTES = 16384 -- of a site
local MAX_SITES = 10000 -- beyond them one is forgotten, and learnt anew by the next crawl

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
