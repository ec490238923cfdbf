/** Contains the error of a page, so that the shell keeps working. */
import { Component, type ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { Notice } from './notice.tsx';

interface State {
  readonly error: Error | undefined;
}

export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice tone="danger">
        <p>This page failed: {error.message}</p>
        <Button onPress={() => location.reload()}>Reload</Button>
      </Notice>
    );
  }
}
