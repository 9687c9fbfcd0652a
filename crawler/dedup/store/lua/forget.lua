-- Forgets URLs. Pages that were their copies are decided anew when they are seen again.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  bits of an odd sketch
-- then one argument for each URL: 1 to forget the page only if it is not a copy, else 0 (1 byte), its
-- table key (4), the URL
--
-- Returns for each URL 1, or 0 if it was never seen, or is a copy that stays.

load_state()

local function forget(item)
  local meta = to_forget(item)
  if not meta then return 0 end
  write_if_full()
  release(meta, tonumber(ARGV[2]) / 8)
  return 1
end

return saving(function()
  local replies = {}
  for i = 3, #ARGV do replies[#replies + 1] = forget(ARGV[i]) end
  return replies
end)
