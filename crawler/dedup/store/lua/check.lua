-- Checks pages against the index and keeps those that are no duplicates: one atomic step.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  threshold, 0 to 1
-- ARGV[4]  bits of an odd sketch, or of a simhash
-- ARGV[5]  pages last seen before this time, in seconds since 1970, have expired
-- ARGV[6]  keys that candidates share at the least, or all if one of them has fewer
-- ARGV[7]  'sketch': candidates are compared by their odd sketches; 'keys': by the share of the
--          page's keys that they have
-- then one argument for each page, as in pages.lua
--
-- Returns for each page the evidence of records.lua, or that and what is new in its host's template,
-- as share_template in pages.lua.

local MAX_VERIFIED = 24 -- candidates compared with one page, those that meet in most bands first

-- Any server that cannot write (full, read-only, without its disk) fails here, before anything
-- has been changed.
local counted = redis.pcall('HINCRBY', STATE, 'exchanges', '1')
local now, threshold, bits = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local oldest, min_matches = tonumber(ARGV[5]), tonumber(ARGV[6])
local similarity_of = ARGV[7] == 'keys' and similarity_by_keys or similarity_by_sketches
local odd_size = bits / 8

local function give_back(steps)
  expire(steps, oldest, function(meta) release(meta, odd_size) end)
end

if type(counted) == 'table' then
  if oldest > 0 and string.find(counted.err, 'OOM', 1, true) then
    write_if_full()
    load_state()
    saving(give_back, 1)
  end
  return counted -- what has expired makes room for the next
end
local tables -- the names of all tables of the group band
local families -- those of the keys of the page that is being checked
local wishes = redis.call('EXISTS', OVERRIDES) == 1 -- that somebody has about pages

-- Of the page that is being compared, of its exact hash, the first, and of its keys: the names of their
-- buckets, what of them stands there, the buckets, and the numbers of the pages that have them. The
-- tables are the same for all pages, for others would have to grow with each.
local names, tags, buckets, pages = {}, {}, nil, {}

local function look(page)
  names[1], tags[1] = locate('exact', 'exact', (unpack_at('>I4', page.exact)))
  for i, family in ipairs(families) do
    names[i + 1], tags[i + 1] = locate('band', family, (unpack_at('>I4', page.bands, i * 4 - 3)))
  end
  buckets = redis.call('MGET', unpack(names, 1, #families + 1))
end

-- The numbers of the pages that have the key i of those.
local function pages_at(i)
  pages[i] = pages_in(buckets[i] or '', tags[i])
  return pages[i] or NONE
end

-- Adds a page that is kept to its keys, once all of them have been looked at.
local function list(id)
  local is_shared = TABLES and #families > TABLES -- then keys of the page may have one bucket
  for i = 1, #families + 1 do
    local bucket = buckets[i] or ''
    if is_shared then bucket = redis.call('GET', names[i]) or '' end
    add(id, pages[i], names[i], tags[i], bucket)
  end
end

local function candidates()
  local hits, ids = {}, {}
  for i = 2, #families + 1 do
    for _, id in ipairs(pages_at(i)) do
      if not hits[id] then ids[#ids + 1] = id end
      hits[id] = (hits[id] or 0) + 1
    end
  end
  if #ids > 1 then
    table.sort(ids, function(x, y)
      return hits[x] > hits[y] or hits[x] == hits[y] and x < y
    end)
  end
  return ids, hits
end

-- Whether so many matches make a page a candidate.
local function are_enough(matches, meta)
  return matches >= math.min(min_matches, #families)
    or matches >= (#meta.sketch - odd_size) / 4
end

-- Whether the page takes the place of a kept page that it copies: that is gone, names the page as
-- canonical, has a later date; or somebody said so. A page that somebody wants dropped takes none.
local function wins(page, original)
  return page.wish ~= 'drop' and (page.preferred or is_gone(original)
    or original.canonical == page.url_key
    or page.date > 0 and page.date < (original.date or 0))
end

-- A kept page with the words of a page of so many sampled shingles, among those whose places it
-- does not take; adds others with these words to the list `beaten`.
local function exact_copy(page, sampled, beaten)
  for _, id in ipairs(pages_at(1)) do
    local meta = read_record(id, oldest)
    if meta and meta.exact == page.exact and meta.url ~= page.url then
      meta.odd_bits, meta.other_sampled = 0, sampled
      if not wins(page, meta) then return meta end
      beaten[#beaten + 1] = meta
    end
  end
  return nil
end

-- The kept page that a page is most like, among those whose places it does not take, and how
-- similar it is; adds the others to the list `beaten`.
local function near_copy(page, beaten)
  local least = page.wish == 'drop' and 0 or threshold -- then whatever is most like it will do
  local best, best_similarity, known = nil, least, {}
  for _, meta in ipairs(beaten) do known[meta.id] = true end -- for their words are the same
  local ids, hits = candidates()
  for i = 1, math.min(#ids, MAX_VERIFIED) do
    local meta = read_record(ids[i], oldest)
    local matches = hits[ids[i]]
    local is_own = meta and meta.url == page.url -- whose entry was lost, or left out
    if meta and not is_own and not known[meta.id] and are_enough(matches, meta) then
      local similarity = similarity_of(page, meta, bits, matches)
      if similarity and similarity >= least and wins(page, meta) then
        beaten[#beaten + 1] = meta
      elseif similarity
        and (similarity > best_similarity or similarity == least and not best) then
        best, best_similarity = meta, similarity
      end
    end
  end
  return best, best_similarity
end

-- Makes a kept page the copy of another that took its place.
local function depose(original, meta, standing)
  unlist(original, odd_size)
  if original.level == BY_KEYS then original.sampled = original.other_sampled end
  original.standing, original.rep, original.rep_sampled = standing, meta.id, original.other_sampled
  original.sketch = ''
  rewrite_record(original)
end

-- Level of the page's own odd sketch and how many of its shingles are sampled there, 0 where it is too
-- short for one.
local function own_sketch(page)
  if #families == 0 then return 0, 0 end
  return string.byte(page.odd, 1), (struct.unpack('>I2', page.odd, 2))
end

-- The kept page that a page is a copy of, nil if of none, how similar it is and what kind of copy that
-- makes of the page; the kept pages whose places it takes. A page without any word is like no other.
local function compare(page)
  local similarity, standing, beaten = 1, 'e', {}
  if page.words == 0 then return nil, similarity, standing, beaten end
  look(page)
  local _, sampled = own_sketch(page)
  local original = exact_copy(page, sampled, beaten)
  if #families > 0 and (not original or page.wish == 'keep') then
    original, similarity = near_copy(page, beaten)
    if not original or original.exact ~= page.exact then standing = 'n' end
  end
  return original, similarity, standing, beaten
end

-- Numbers of the pages that have the key of the page's URL, and of its bucket the name, what of the key
-- stands there, and the bucket.
local url_ids, url_name, url_tag, url_bucket

local function decide(page, known, same_text)
  if page.wish == AGAIN then redis.call('HDEL', OVERRIDES, page.url) end
  local level, sampled = own_sketch(page)
  local meta = {id = new_number(#page.url + #page.bands + odd_size),
    first_seen = known and known.first_seen or page.seen, last_seen = later(page.seen, known),
    token = page.token, url = page.url, url_key = page.url_key, words = page.words,
    exact = page.exact, sketch = '', level = level, sampled = sampled, date = page.date}
  if known then meta.gone = still_gone(page, known) end
  if page.yields_to then meta.canonical = page.yields_to end
  local long_enough = #families > 0
  local original, similarity, standing, beaten = compare(page)
  if page.wish == 'keep' then original = nil end
  if original or page.wish == 'keep' and not page.preferred then beaten = {} end
  if original then
    meta.standing, meta.odd_bits = standing, original.odd_bits
    if standing == 'n' then meta.level, meta.sampled = original.level, original.other_sampled end
    meta.rep, meta.rep_sampled = original.id, original.sampled
    meta.last = same_text and '=' or meta.standing
  else
    meta.standing = long_enough and 'u' or 's'
    local as_before = same_text and not known.rep
    meta.last = as_before and '=' or known and '!' or meta.standing
    if beaten[1] then meta.replaces = beaten[1].id end
    if long_enough then meta.sketch = page.bands .. string.sub(page.odd, 4, 3 + odd_size) end
  end
  write_record(meta) -- first, for it fails where somebody wrote under its key: an entry would have no record
  add(meta.id, url_ids, url_name, url_tag, url_bucket)
  grow('url', URLS)
  if not original then
    if page.words > 0 then list(meta.id) end
    for _, loser in ipairs(beaten) do
      depose(loser, meta, loser.exact == page.exact and 'e' or 'n')
    end
    state.kept = state.kept + 1
    if page.words > 0 then grow('exact', EXACT) end
    if long_enough then
      for _ = 1, rounds(#families) do grow('band', tables) end
    end
  end
  count(page, meta, similarity)
  return meta
end

local function forget(page, meta)
  release(meta, odd_size)
  url_ids, url_name, url_tag, url_bucket = find('url', 'url', page.url_key)
end

-- Whether what was decided about a page's text still holds. A copy whose original is no longer kept,
-- or is gone from the web, has to be decided anew, and so has one of which somebody wants it. A kept page
-- that somebody wants dropped stays what it is, its copies with it, until another is like it.
local function stands(page, meta)
  if page.wish == AGAIN then return false end
  if not meta.rep then return page.wish ~= 'drop' or not compare(page) end
  if page.wish == 'keep' or page.preferred then return false end
  local original = original_of(meta, oldest)
  return original and not is_gone(original)
end

local function check(page)
  local meta
  meta, url_ids, url_name, url_tag, url_bucket = find_url(page.url, page.url_key)
  if not meta then return decide(page, nil, false) end
  if meta.last_seen < oldest then
    forget(page, meta)
    return decide(page, nil, false)
  end
  local same_text = meta.exact == page.exact
  if same_text and (meta.token == page.token or stands(page, meta)) then
    touch(meta, page)
    return meta
  end
  forget(page, meta)
  return decide(page, meta, same_text)
end

-- Whether the page names another page of the index as canonical.
local function knows_canonical(page)
  local meta = page.named and find_url(page.named.url, page.named.key)
  return meta and meta.last_seen >= oldest
end

load_state()
local refused = out_of_numbers(#ARGV - 7)
if refused then return refused end
local replies, names_of = {}, {[0] = {}} -- the tables of a page's keys, by their number

local function check_all()
  for i = 8, #ARGV do
    local page = read_page(ARGV[i])
    local keys = #page.bands / 4
    names_of[keys] = names_of[keys] or band_names(keys)
    tables = tables or keys > 0 and band_names(TABLES or keys) or nil
    families = names_of[keys]
    page.wish = wishes and redis.call('HGET', OVERRIDES, page.url)
    local said = evidence(check(page), knows_canonical(page) and CANONICAL_KNOWN)
    local template = page.template
    local news = template and share_template(page.host, template.length, template.pairs)
    replies[#replies + 1] = news and {said, news} or said
  end
  if oldest > 0 then give_back(math.ceil((#ARGV - 7) / 8)) end
end

saving(check_all)
return replies
