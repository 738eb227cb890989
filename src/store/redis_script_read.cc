#include "store/redis_scripts.h"

namespace hookonce::redis_lua {

// Arguments: id. Answer: nothing, or the deliveries and the reply.
const std::string_view kReply = R"lua(
local id = argument()
for _, source in ipairs(all_sources()) do
  local fields = call('HMGET', tag(source) .. 'e:' .. id, 'd', 'r')
  if fields[1] then return fields end
end
return false
)lua";

// Arguments: id. Answer: nothing, or the source and all fields.
const std::string_view kGet = R"lua(
local id = argument()
for _, source in ipairs(all_sources()) do
  local fields = call('HGETALL', tag(source) .. 'e:' .. id)
  if #fields > 0 then return { source, fields } end
end
return false
)lua";

// Arguments: SEQ below which to look, how many, the index (i, o or d; k: by dedup key), source or nothing, keys.
// Answer: rows of source, id, `s`, `d`, `n`, newest first; as many as asked for where there may be more.
const std::string_view kList = R"lua(
local before, wanted, index, source = '(' .. argument(), number(), argument(), argument()
local keys = arguments()
local sources = source == '' and all_sources() or { source }
local found = {}

local function note(of_source, list)
  for i = 1, #list, 2 do
    found[#found + 1] = { source = of_source, id = list[i], seq = tonumber(list[i + 1]) }
  end
end

-- Who holds a key, and who held it before.
local function note_holders(of_source, t, key)
  local value = call('GET', t .. 'k:' .. key)
  local holder = value and read_holder(value)
  if holder and holder.seq < tonumber(string.sub(before, 2)) then
    found[#found + 1] = { source = of_source, id = holder.id, seq = holder.seq }
  end
  note(of_source, call('ZREVRANGEBYSCORE', t .. 'l:' .. key, before, '-inf', 'WITHSCORES', 'LIMIT', 0, wanted))
end

for _, of_source in ipairs(sources) do
  local t = tag(of_source)
  if index == 'k' then
    for _, key in ipairs(keys) do note_holders(of_source, t, key) end
  else
    note(of_source, call('ZREVRANGEBYSCORE', t .. index, before, '-inf', 'WITHSCORES', 'LIMIT', 0, wanted))
  end
end
table.sort(found, function(a, b) return a.seq > b.seq end)

local rows, last_seq = {}, nil
for _, event in ipairs(found) do
  if #rows >= wanted then break end
  if event.seq ~= last_seq then
    local read = call('HMGET', tag(event.source) .. 'e:' .. event.id, 's', 'd', 'n')
    rows[#rows + 1] = { event.source, event.id, event.seq, read[1] or '', read[2] or '', read[3] or '0' }
    last_seq = event.seq
  end
end
return rows
)lua";

// Answer: events, in flight, dead, when the oldest pending one was accepted or nothing, then the queues: name and
// length; then the paused destinations.
const std::string_view kStats = R"lua(
local LOOKED_AT_MAX = 1000  -- in front of the oldest pending delivery stand those in flight alone

local function has_pending(event)
  for _, d in ipairs(event.deliveries) do
    if d.state == PENDING then return true end
  end
end
local function oldest_pending(t)
  for _, id in ipairs(call('ZRANGE', t .. 'o', 0, LOOKED_AT_MAX - 1)) do
    local event = event_of(t, id)
    if event and has_pending(event) then return event end
  end
end

local count_events, in_flight, dead, oldest, waiting = 0, 0, 0, nil, {}
for _, source in ipairs(all_sources()) do
  local t = tag(source)
  count_events = count_events + call('ZCARD', t .. 'i')
  local numbers = call('HMGET', t .. 'n', 'in_flight', 'dead')
  in_flight = in_flight + (numbers[1] or 0)
  dead = dead + (numbers[2] or 0)
  local event = oldest_pending(t)
  if event and (not oldest or event.seq < oldest.seq) then oldest = event end
  for _, name in ipairs(call('SMEMBERS', t .. 'Q')) do
    waiting[#waiting + 1] = name
    waiting[#waiting + 1] = call('ZCARD', t .. 'q:' .. name)
  end
end
return { count_events, in_flight, dead, oldest and oldest.received or false, waiting, call('SMEMBERS', prefix .. 'paused') }
)lua";

// Arguments: for how long events stay behind the end of their last delivery, how many rows at most, then sources with a
// time of their own: their number, and each one's name and time. Answer: rows removed. Each event goes in an order that
// a run which failed in the middle can repeat.
const std::string_view kPrune = R"lua(
local age, left, own = number(), number(), {}
for _ = 1, number() do
  local source = argument()
  own[source] = number()
end
local gone = 0

-- A key stays while its window lasts or an event that held it is here.
local function release_key(t, key, id)
  local name, earlier = t .. 'k:' .. key, t .. 'l:' .. key
  local value = call('GET', name)
  if call('EXISTS', earlier) == 1 then call('ZREM', earlier, id) end
  if not value or call('EXISTS', earlier) == 1 then return end
  local holder = read_holder(value)
  if holder.id ~= id and call('EXISTS', t .. 'e:' .. holder.id) == 1 then return end
  if holder.expires <= now then
    gone = gone + call('DEL', name)
  else
    call('PEXPIRE', name, expiry_left(holder.expires))
  end
end

local in_lines = {}  -- deliveries of removed events that held up their lines until now

local function remove_event(t, id)
  local event = event_of(t, id)
  if event then
    event.changed = true  -- Whatever happens to it here, it is not written again.
    local _, _, keys = parse('>i8i8I4c0', event.fixed)
    keys = keys .. (call('HGET', event.key, 'j') or '')
    for at = 1, #keys, 16 do release_key(t, string.sub(keys, at, at + 15), id) end
    local deaths = 0
    for _, d in ipairs(event.deliveries) do
      deaths = deaths + one_if(d.state == DEAD)
      if d.line == 1 then in_lines[#in_lines + 1] = { event, d } end
    end
    call('UNLINK', event.key)
    if deaths > 0 then
      call('HINCRBY', t .. 'n', 'dead', -deaths)
      call('ZREM', t .. 'd', id)
    end
  end
  call('ZREM', t .. 'i', id)
  call('ZREM', t .. 'c', id)
  gone = gone + 1
end

for _, source in ipairs(all_sources()) do
  local t = tag(source)
  if gone < left then
    local before = '(' .. string.format('%.0f', now - (own[source] or age))
    for _, id in ipairs(call('ZRANGEBYSCORE', t .. 'c', '-inf', before, 'LIMIT', 0, left - gone)) do
      remove_event(t, id)
      if gone >= left then break end
    end
  end
  for _, name in ipairs(call('SMEMBERS', t .. 'Q')) do
    if call('EXISTS', t .. 'q:' .. name) == 0 then call('SREM', t .. 'Q', name) end
  end
  if call('EXISTS', t .. 'i') == 0 then call('SREM', prefix .. 'sources', source) end
end
for _, one in ipairs(in_lines) do leave_line(one[1], one[2]) end
plan_changes()
write_changes()
return gone
)lua";

}  // namespace hookonce::redis_lua
