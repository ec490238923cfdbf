/** Types of non-code imports. */
/// <reference types="vite/client" />
