// Builds the page into one file, which the crate lissom-report carries.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: process.env.LISSOM_PAGE_DIR ?? "../crates/lissom-report/page",
    emptyOutDir: false,
    target: "es2022",
    rollupOptions: { input: "report.html" },
  },
});
