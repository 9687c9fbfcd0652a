-- Finds the kept pages that are similar to a page, and says which of them it copies or replaces.
--
-- This text is put in front of check.lua, whose arguments it reads.

local MAX_VERIFIED = 24 -- candidates compared with one page, the likeliest copies first
-- Candidates in a row that are not similar, after which the less likely ones are skipped. In a family of
-- pages that are not quite similar enough, each page would otherwise be compared with 24, at three times
-- the cost.
local MAX_IN_VAIN = 12

local threshold, bits = tonumber(ARGV[3]), tonumber(ARGV[4])
local oldest, min_matches = tonumber(ARGV[5]), tonumber(ARGV[6])
local similarity_of = ARGV[7] == 'keys' and similarity_by_keys or similarity_by_sketches
local odd_size = bits / 8
local overridden = redis.call('EXISTS', OVERRIDES) == 1 -- whether there are overrides

-- The places of a page in the tables: of its exact hash, the first, and of its keys. Each has the name of
-- its bucket, the stored part of the key, the bucket, and, once pages_at was called, the numbers of the
-- pages there.
local function places_of(page, families)
  -- As long as for most pages, because tables that grow are slower.
  local names, tags, n = {0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}, #families + 1
  names[1], tags[1] = locate('exact', 'exact', (unpack_at('>I4', page.exact)))
  for i, family in ipairs(families) do
    names[i + 1], tags[i + 1] = locate('band', family, (unpack_at('>I4', page.bands, i * 4 - 3)))
  end
  local buckets = redis.call('MGET', unpack(names, 1, n))
  return {n = n, names = names, tags = tags, buckets = buckets, ids = {false, false, false, false, false,
    false, false, false, false}}
end

-- The numbers of the pages at place i.
local function pages_at(places, i)
  local ids = places.ids[i] or pages_in(places.buckets[i] or '', places.tags[i]) or NONE
  places.ids[i] = ids
  return ids
end

-- The numbers of the pages that share a key with the page, the most likely originals first; and by number
-- how many keys. Rare keys count more, because all pages of a family may share most of its keys.
local function candidates(places)
  local hits, weights, ids = {}, {}, {}
  for i = 2, places.n do
    local found = pages_at(places, i)
    for _, id in ipairs(found) do
      if not hits[id] then ids[#ids + 1] = id end
      hits[id], weights[id] = (hits[id] or 0) + 1, (weights[id] or 0) + 1 / #found
    end
  end
  if #ids > 1 then
    table.sort(ids, function(x, y)
      return weights[x] > weights[y] or weights[x] == weights[y] and x < y
    end)
  end
  return ids, hits
end

-- Whether so many matches make a page with so many keys a candidate.
local function are_enough(matches, keys, meta)
  return matches >= math.min(min_matches, keys) or matches >= (#meta.sketch - odd_size) / 4
end

-- Whether a rank is better than another. Bytes are compared, because the order of strings depends on the
-- server's locale.
local function is_better(rank, other)
  if rank == '' or other == '' then return rank ~= '' end
  if #rank ~= #other then -- of two orders, of which only the dates compare: see _date_first in ranks.py
    if #rank == 5 and byte(rank) > 0 and byte(rank) <= 2 then rank = string.sub(rank, 2) end
    if #other == 5 and byte(other) > 0 and byte(other) <= 2 then other = string.sub(other, 2) end
  end
  for i = 1, math.min(#rank, #other) do
    local x, y = byte(rank, i), byte(other, i)
    if x ~= y then return x < y end
  end
  return false
end

-- Whether the page takes the place of a kept page that it copies: if that one is gone, names the page as
-- canonical or has a worse rank, or if the page is preferred. A page with a drop override takes no place.
local function wins(page, original)
  if page.override == 'drop' then return false end
  if page.preferred or is_gone(original) then return true end
  if original.rank == CHOSEN or page.yields_to == original.url_key then return false end
  return original.canonical == page.url_key or is_better(page.rank, original.rank)
end

-- Whether an override keeps a page that the other would replace: then the two are not copies.
local function is_held(page, original)
  return overridden and not page.preferred and not is_gone(original)
    and redis.call('HGET', OVERRIDES, original.url) == 'keep'
end

-- Puts a similar kept page into its group in `found`: `beaten` if the page takes its place; `contested` if
-- it gives way, because its text may have changed; otherwise it may be the `original`. A confirmed original
-- comes before an unconfirmed one, then the most similar.
local function rank(page, meta, similarity, found)
  if wins(page, meta) then
    if is_held(page, meta) then return end
    if not found.beaten then found.beaten = {} end
    found.beaten[#found.beaten + 1] = meta
  elseif gives_way(meta, page, found.is_kept) then
    if not found.contested then found.contested = {} end
    found.contested[#found.contested + 1] = meta
  else
    local is_confirmed = not is_unconfirmed(meta, page)
    local best = found.original
    if not best or is_confirmed and not found.is_confirmed
      or is_confirmed == found.is_confirmed and similarity > found.similarity then
      found.original, found.similarity, found.is_confirmed = meta, similarity, is_confirmed
    end
  end
end

-- Ranks the kept pages with the same words as a page, which has `sampled` sampled shingles, up to the first
-- confirmed original.
local function find_exact(page, places, sampled, found)
  for _, id in ipairs(pages_at(places, 1)) do
    local meta = read_record(id, oldest)
    if meta and meta.exact == page.exact and meta.url ~= page.url
      and (page.override == 'drop' or not is_distinct(page, meta)) then
      meta.odd_bits, meta.other_sampled = 0, sampled
      if not found.known then found.known = {} end
      found.known[id] = true
      rank(page, meta, 1, found)
      if found.is_confirmed then return end
    end
  end
end

-- Ranks the kept pages that are similar to a page.
local function find_near(page, places, found)
  local least = page.override == 'drop' and 0 or threshold -- with a drop override, any similarity will do
  local keys = places.n - 1
  local ids, hits = candidates(places)
  local in_vain = 0
  for i = 1, math.min(#ids, MAX_VERIFIED) do
    if in_vain == MAX_IN_VAIN then break end
    in_vain = in_vain + 1
    local id = ids[i]
    local meta = not (found.known and found.known[id]) and read_record(id, oldest)
    local is_own = meta and meta.url == page.url -- an earlier record whose entry was lost, or left out
    if meta and not is_own and are_enough(hits[id], keys, meta)
      and (page.override == 'drop' or not is_distinct(page, meta)) then
      local similarity = similarity_of(page, meta, bits, hits[id])
      if similarity and similarity >= least then
        rank(page, meta, similarity, found)
        in_vain = 0
      end
    end
  end
end

-- Level of the page's own odd sketch, and the number of its sampled shingles; 0 and 0 if the page is too
-- short for a sketch.
local function own_sketch(page)
  if #page.bands == 0 then return 0, 0 end
  return string.byte(page.odd, 1), (struct.unpack('>I2', page.odd, 2))
end

-- The similar kept pages, in the groups of rank(), and the page's places. A page without words is similar
-- to no other, and has nil for places. is_kept: whether the page itself is kept so far.
local function compare(page, is_kept, families)
  local found = {beaten = false, contested = false, known = false, is_kept = is_kept, similarity = 0,
    is_confirmed = false, original = false}
  if page.words == 0 then return found, nil end
  local places = places_of(page, families)
  local _, sampled = own_sketch(page)
  find_exact(page, places, sampled, found)
  if #families > 0 and (not found.is_confirmed or page.override == 'keep') then
    if page.override == 'keep' then found.original = false end
    find_near(page, places, found)
  end
  return found, places
end
