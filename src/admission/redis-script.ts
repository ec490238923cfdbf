/**
 * The one script that a shared quota store runs: what `memory-quota.ts` does, in Redis, all buckets
 * of a charge at once. Time is the server's, so the clocks of gateways do not matter.
 */

/**
 * KEYS: the buckets, all of one hash slot. ARGV: the events to take, negative to give back; then
 * rate and burst of each bucket. Answers `[1 | 0 for taken, level, …]`, levels as text since Redis
 * cuts numbers down to integers. A key holds `<level> <Unix µs>` and is gone once the bucket is
 * full, which is what an unknown bucket is.
 */
export const quotaScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local events = tonumber(ARGV[1])
local answer = {1}
local levels = {}
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local level = burst
  local was, at = string.match(redis.call('GET', key) or '', '^(%S+) (%d+)$')
  if at then
    level = math.min(burst, was + rate * math.max(0, now - at) / 1000000)
  end
  if events >= 0 and level <= 0 then answer[1] = 0 end
  levels[i] = level
end
for i, key in ipairs(KEYS) do
  local rate, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local level = levels[i]
  if answer[1] == 1 then level = math.min(burst, level - events) end
  if level >= burst then
    redis.call('DEL', key)
  else
    local year = 365 * 24 * 3600 * 1000
    local full = math.min(year, math.ceil((burst - level) / rate * 1000) + 1)
    local kept = string.format('%.17g %.0f', level, now)
    redis.call('SET', key, kept, 'PX', string.format('%.0f', full))
  end
  answer[i + 1] = string.format('%.17g', level)
end
return answer
`;
