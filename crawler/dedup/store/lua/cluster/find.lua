-- Reads the records of URLs in a shard; changes nothing.
--
-- ARGV  see shard.lua; for each URL: its table key (4 bytes), the URL
--
-- Returns for each URL '' if it was never seen; otherwise local number, first seen, last seen (seconds
-- since 1970), words and the time since which it is gone (0 if it is not), 4 bytes each, exact hash
-- (12), the answer of stored_pages.lua without the URL, and the page's URL as fetched.

load_state()

return each(function(item)
  local meta = find_url(string.sub(item, 5), string.sub(item, 1, 4))
  if not meta then return '' end
  return struct.pack('>I4I4I4I4I4', meta.id, meta.first_seen, meta.last_seen, meta.words,
    meta.gone or 0) .. meta.exact .. pack_answer(meta) .. shown_url(meta)
end)
