/** What Vite makes of files that are no code. */
/// <reference types="vite/client" />
