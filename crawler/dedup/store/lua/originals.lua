-- Tells what has become of the pages that stand for others; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  when the crawl began that asks
-- then one argument for each page: its table key (4 bytes), its URL
--
-- Returns for each page a letter: c, the page that stands for it was seen since, or none does as it is kept;
-- u, that was not seen since, and then its URL; l, it is lost: no page stands for it, or one that is gone.

load_state()

local function original_state(item)
  local meta = find_url(string.sub(item, 5), string.sub(item, 1, 4))
  if not meta then return 'l' end
  if not meta.rep then return 'c' end
  local original = original_of(meta, 0)
  if not original or is_gone(original) then return 'l' end
  return original.last_seen < tonumber(ARGV[2]) and 'u' .. original.url or 'c'
end

local replies = {}
for i = 3, #ARGV do replies[#replies + 1] = original_state(ARGV[i]) end
return replies
