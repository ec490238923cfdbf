/** Mounts the explorer. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { applyTheme, followPreferences } from './app/preferences.ts';
import './styles/tokens.css';
import './styles/elements.css';

applyTheme();
followPreferences();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
