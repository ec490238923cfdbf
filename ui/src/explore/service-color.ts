/** A colour for each service, the same on every page and in every session where none is shared. */
import { createContext } from 'react';

const colors = 10;

/** A custom property; a service without a name has a neutral one. */
export type ServiceColor = (service: string) => string;

/** Of the services on the page. */
export const ServiceColors = createContext<ServiceColor>(toServiceColor([]));

/**
 * Each of these services has its own colour while there are enough; the last by name give way.
 * Others have that of their name.
 */
export function toServiceColor(shown: readonly string[]): ServiceColor {
  const slots = new Map<string, number>();
  const used = new Set<number>();
  const take = (service: string, slot: number) => {
    slots.set(service, slot);
    used.add(slot);
  };
  const services = [...new Set(shown)].toSorted();
  for (const service of services) if (!used.has(slotOf(service))) take(service, slotOf(service));
  for (const service of services.filter((each) => !slots.has(each))) {
    let slot = slotOf(service);
    while (used.has(slot) && used.size < colors) slot = (slot + 1) % colors;
    take(service, slot);
  }
  return (service) =>
    service === '' ? '--severity-none' : `--line-${(slots.get(service) ?? slotOf(service)) + 1}`;
}

/** FNV-1a spreads names that differ in one letter. */
function slotOf(service: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < service.length; at += 1) {
    hash = Math.imul(hash ^ service.charCodeAt(at), 0x01000193) >>> 0;
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % colors;
}
