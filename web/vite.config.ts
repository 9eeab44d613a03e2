import { defineConfig } from 'vite';

// One script and one style with fixed names: they are put together elsewhere (skein/mission/report.cc, adapters/http/dashboard.cc).
export default defineConfig({
  build: {
    target: 'es2020',
    cssCodeSplit: false,
    emptyOutDir: true,
    modulePreload: false,
    rollupOptions: {
      input: 'src/main.ts',
      output: { format: 'iife', entryFileNames: 'page.js', assetFileNames: 'page.[ext]' },
    },
  },
});
