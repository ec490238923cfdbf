/** The services of the demo shop: what they log, and how requests pass through them. */
import type { Random } from '../../test/harness/random.ts';

export interface Pod {
  readonly name: string;
  readonly host: string;
  readonly version: string;
}

/** A request as the services log it. */
export interface Visit {
  readonly method: string;
  readonly route: string;
  readonly path: string;
  readonly customer: string;
  readonly order: number;
}

export interface Route {
  readonly method: string;
  readonly route: string;
  /** Share among all requests. */
  readonly weight: number;
  /** In the order of the calls; the first is called by the browser, and calls the others. */
  readonly services: readonly [string, ...string[]];
}

export const routes: readonly [Route, ...Route[]] = [
  { method: 'GET', route: '/products/{id}', weight: 40, services: ['edge-proxy', 'catalog'] },
  { method: 'POST', route: '/cart', weight: 24, services: ['edge-proxy', 'cart', 'inventory'] },
  { method: 'POST', route: '/login', weight: 12, services: ['edge-proxy', 'auth'] },
  { method: 'GET', route: '/orders/{id}', weight: 12, services: ['edge-proxy', 'checkout'] },
  {
    method: 'POST',
    route: '/checkout',
    weight: 12,
    services: ['edge-proxy', 'checkout', 'inventory', 'payment', 'shipping'],
  },
];

type Words = (visit: Visit, random: Random) => string;

interface ServiceWords {
  readonly begin: Words;
  readonly end: Words;
  /** Milliseconds of one call, without the services that it calls. */
  readonly usualMs: number;
  /** A warning now and then. */
  readonly warning: Words;
}

export const services: Readonly<Record<string, ServiceWords>> = {
  'edge-proxy': {
    usualMs: 2,
    begin: ({ method, path }) => `${method} ${path} accepted`,
    end: ({ method, path }) => `${method} ${path} answered`,
    warning: (_, r) => `upstream took ${r.integer(900, 2500)} ms, above its budget of 800 ms`,
  },
  catalog: {
    usualMs: 12,
    begin: (_, r) => `loading product ${r.integer(100, 999)}`,
    end: (_, r) => `product read in ${r.integer(2, 30)} ms, cache ${r.pick(['hit', 'miss'])}`,
    warning: (_, r) =>
      `slow query: SELECT * FROM products WHERE id = $1 took ${r.integer(900, 4000)} ms`,
  },
  cart: {
    usualMs: 8,
    begin: ({ customer }, r) => `adding item ${r.integer(100, 999)} to the cart of ${customer}`,
    end: (_, r) => `cart has ${r.integer(1, 9)} items`,
    warning: (_, r) => `cart was changed elsewhere, merged ${r.integer(1, 3)} items`,
  },
  inventory: {
    usualMs: 10,
    begin: ({ order }) => `reserving the items of order ${order}`,
    end: ({ order }, r) => `reserved ${r.integer(1, 9)} items for order ${order}`,
    warning: (_, r) => `stock of item ${r.integer(100, 999)} is low: ${r.integer(1, 5)} left`,
  },
  auth: {
    usualMs: 30,
    begin: ({ customer }) => `login of ${customer}`,
    end: ({ customer }, r) =>
      `{"event":"login","customer.id":"${customer}","ok":true,"factors":["password","totp"],` +
      `"session":{"ttl":${r.integer(1, 8) * 3600},"ip":"198.51.100.${r.integer(1, 250)}"}}`,
    warning: ({ customer }, r) =>
      `{"event":"login","customer.id":"${customer}","ok":false,` +
      `"reason":"wrong password","attempt":${r.integer(1, 4)}}`,
  },
  checkout: {
    usualMs: 20,
    begin: ({ order, customer }) => `order ${order} of ${customer} received`,
    end: ({ order }, r) => `order ${order} confirmed, total ${r.integer(9, 900)}.95 EUR`,
    warning: ({ order }, r) => `order ${order} retried, attempt ${r.integer(2, 3)} of 3`,
  },
  payment: {
    usualMs: 120,
    begin: ({ order }, r) => `authorizing ${r.integer(9, 900)}.95 EUR for order ${order}`,
    end: ({ order }, r) => `authorization ${r.integer(10_000, 99_999)} for order ${order}`,
    warning: ({ order }) => `card of order ${order} declined by its issuer`,
  },
  shipping: {
    usualMs: 15,
    begin: ({ order }) => `creating a shipment for order ${order}`,
    end: ({ order }, r) => `shipment ${r.integer(1000, 9999)} for order ${order} created`,
    warning: (_, r) => `carrier API is slow, ${r.integer(2, 9)} labels are waiting`,
  },
};

/** Three pods of each service. */
export function createPods(random: Random): ReadonlyMap<string, readonly [Pod, Pod, Pod]> {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  const word = (length: number) =>
    Array.from({ length }, () => letters[random.integer(0, letters.length - 1)]!).join('');
  return new Map(
    Object.keys(services).map((service) => {
      const replicas = word(8);
      const pod = (node: number): Pod => ({
        name: `${service}-${replicas}-${word(5)}`,
        host: `node-${node}`,
        version: `2.${Object.keys(services).indexOf(service)}.0`,
      });
      return [service, [pod(1), pod(2), pod(3)]] as const;
    }),
  );
}

/** As Java prints it. */
export function paymentTrace(order: number): string {
  const frames = [
    'com.shop.payment.GatewayClient.await(GatewayClient.java:214)',
    'com.shop.payment.GatewayClient.authorize(GatewayClient.java:131)',
    'com.shop.checkout.PaymentStep.run(PaymentStep.java:77)',
    'com.shop.checkout.Pipeline.step(Pipeline.java:58)',
    'com.shop.checkout.Pipeline.run(Pipeline.java:41)',
    'com.shop.checkout.OrderService.place(OrderService.java:102)',
    'com.shop.checkout.OrderResource.post(OrderResource.java:49)',
    ...Array.from(
      { length: 16 },
      (_, at) => `org.server.filter.Chain.next(Chain.java:${120 + at * 4})`,
    ),
    'java.base/java.lang.Thread.run(Thread.java:1583)',
  ];
  return [
    `payment of order ${order} failed: no answer from the card gateway within 5000 ms`,
    'com.shop.payment.GatewayTimeoutException: no answer within 5000 ms',
    ...frames.map((frame) => `\tat ${frame}`),
    'Caused by: java.net.SocketTimeoutException: Read timed out',
    '\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)',
    '\t... 24 more',
  ].join('\n');
}
