/** How the explorer is built: files that a strict Content-Security-Policy lets run. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const weir = process.env['WEIR_URL'] ?? 'https://localhost:8444';

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // Nothing inside a page: the policy allows neither inline scripts nor data URLs of scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // For the test of sizes.
    manifest: true,
    chunkSizeWarningLimit: 1000,
  },
  // `npm run ui`: pages from here, data from a Weir that runs.
  // Sessions are honoured for the origin of Weir only.
  server: {
    proxy: {
      '/api': {
        target: weir,
        secure: false,
        changeOrigin: true,
        headers: { origin: new URL(weir).origin },
      },
    },
  },
});
