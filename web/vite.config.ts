// Builds what src/admin/dashboard/ holds: one page, one script, one style sheet, named by their content.
import { defineConfig } from 'vite';

const gateway = process.env.HOOKONCE_ADMIN ?? 'http://127.0.0.1:8081';

export default defineConfig({
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: process.env.HOOKONCE_DASHBOARD_OUT ?? '../src/admin/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { '/api': gateway, '/healthz': gateway, '/readyz': gateway, '/metrics': gateway } },
});
