-- How similar a page is to a kept one: by odd sketches, by simhashes, or by the keys that both have.
-- This text stands in front of check.lua; `bits` are those of an odd sketch, or of a simhash.

local BY_KEYS = 255 -- stands for a level where a verdict rests on keys
local SIMHASH = 254 -- stands for a level where what is stored is a simhash, not an odd sketch
local CERTAIN = 16 -- so many keys are all small by design, not by chance
local FEWEST = 8 -- keys to judge by, if not all of a page's

-- Ones in the exclusive or of two strings: lanes of bytes are summed in one 32-bit word at a time,
-- at most 31 words before a lane could overflow.
local function differing_bits(a, b)
  local bxor, band, rshift = bit.bxor, bit.band, bit.rshift
  local total, lanes, words = 0, 0, 0
  for i = 1, #a, 4 do
    local x = bxor((struct.unpack('>I4', a, i)), (struct.unpack('>I4', b, i)))
    x = band(x, 0x55555555) + band(rshift(x, 1), 0x55555555)
    x = band(x, 0x33333333) + band(rshift(x, 2), 0x33333333)
    lanes = lanes + band(x, 0x0f0f0f0f) + band(rshift(x, 4), 0x0f0f0f0f)
    words = words + 1
    if words == 31 or i + 4 > #a then
      total = total + band(lanes, 255) + band(rshift(lanes, 8), 255)
        + band(rshift(lanes, 16), 255) + band(rshift(lanes, 24), 255)
      lanes, words = 0, 0
    end
  end
  return total
end

-- Resemblance of two sets whose simhashes differ in so many bits (Charikar 2002, section 3).
local function simhash_resemblance(differing, bits)
  local cosine = math.max(0, math.cos(math.pi * differing / bits))
  return cosine / (2 - cosine)
end

-- Resemblance of two sets of `a` and `b` members whose odd sketches differ in `odd` bits
-- (Mitzenmacher, Pagh, Pham 2014, section 3.1).
local function resemblance(odd, a, b, bits)
  if 2 * odd >= bits then return 0 end
  local difference = math.log(1 - 2 * odd / bits) / math.log(1 - 2 / bits)
  return math.max(0, (a + b - difference) / (a + b + difference))
end

local function sketch_at(page, level, bits)
  local odd_size = bits / 8
  for at = 1, #page.odd, odd_size + 3 do
    if string.byte(page.odd, at) == level then
      return struct.unpack('>I2', page.odd, at + 1), string.sub(page.odd, at + 3, at + 2 + odd_size)
    end
  end
  return nil
end

-- How many of the page's keys could be a candidate's: a candidate of very many shingles has keys
-- below 2^26, 2^25, … only (see ModuloSample). Keys are sorted. nil if those are too few to tell.
local function comparable_keys(page, meta, bits)
  local keys = string.sub(meta.sketch, 1, -bits / 8 - 1)
  local count, all = 0, #page.bands / 4
  if #keys < 4 * CERTAIN then return all end
  local _, exponent = math.frexp((struct.unpack('>I4', keys, #keys - 3)))
  for at = 1, #page.bands, 4 do
    if struct.unpack('>I4', page.bands, at) >= 2 ^ exponent then break end
    count = count + 1
  end
  return (count == all or count >= FEWEST) and count or nil
end

-- How similar a candidate is that has so many of the page's keys, nil if those are too few to tell;
-- notes in `meta` what that rests on.
local function similarity_by_keys(page, meta, bits, hits)
  local available = comparable_keys(page, meta, bits)
  if not available then return nil end
  meta.level, meta.odd_bits, meta.other_sampled = BY_KEYS, hits, available
  return hits / available
end

-- The same by the sketches of the two; nil for pages whose sizes have no level in common, or where the
-- other's is not whole.
local function similarity_by_sketches(page, meta, bits)
  local sampled, sketch = sketch_at(page, meta.level, bits)
  if not sketch or #meta.sketch < bits / 8 then return nil end
  meta.odd_bits = differing_bits(sketch, string.sub(meta.sketch, -bits / 8))
  meta.other_sampled = sampled
  -- Sets of one size whose keys differ do so in two members at least, which may be on one bit.
  if meta.odd_bits == 0 and meta.level == 0 and sampled == meta.sampled
    and string.sub(meta.sketch, 1, -bits / 8 - 1) ~= page.bands then
    meta.odd_bits = 2
  end
  if meta.level == SIMHASH then return simhash_resemblance(meta.odd_bits, bits) end
  return resemblance(meta.odd_bits, sampled, meta.sampled, bits)
end
